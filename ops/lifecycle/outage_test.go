package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/lifecycle"
)

// However many parts a process has, an outage is one line when it begins and one when it
// is over. A connection that is cut, while the database works, is none.
func TestOutageIsOneLine(t *testing.T) {
	t.Parallel()
	server := storetest.PostgresServer(t)
	d := migrated.Up(storetest.At(t, server.URL()))
	var lines storetest.Log
	log := lines.Logger()
	p, err := lifecycle.New(lifecycle.Config{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	p.Add(lifecycle.Database(d.Open()))
	for name, one := range parts(t, d.Store, log) {
		p.AddService(name, one)
	}
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	count := func(message string) int { return strings.Count(lines.String(), message) }
	d.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND pid <> pg_backend_pid()")
	listen := func() bool { // the last statement of a listener is LISTEN, or the empty one by which it asks whether the server is there
		return d.One("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND (query LIKE 'LISTEN%' OR query = '') AND pid <> pg_backend_pid()") == "3"
	}
	storetest.Eventually(t, "all parts listen again", listen)
	if n := count("database does"); n > 0 {
		t.Errorf("the log says of cut connections %d times that the database does not work", n)
	}
	server.Stop()
	storetest.Eventually(t, "the log tells of the outage", func() bool { return count("database does not work, retrying") > 0 })
	time.Sleep(3 * time.Second) //nolint:forbidigo // the server is down in real time
	server.Start()
	storetest.Eventually(t, "the log tells of its end", func() bool { return count("database works again") > 0 })
	storetest.Eventually(t, "all parts listen after the outage", listen)
	storetest.Eventually(t, "the process is healthy again", func() bool { return p.Health(t.Context()).Healthy })
	for message, want := range map[string]int{"database does not work, retrying": 1, "database works again": 1} {
		// A statement that was under way when the server stopped may fail in words of its own, once.
		if n, own := count(message), count("database work failed"); n != want || own > 1 {
			t.Errorf("%q is said %d times, want %d; %d errors beside it", message, n, want, own)
			t.Log(lines.String())
		}
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
