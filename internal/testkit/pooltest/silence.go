package pooltest

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/network"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// noticed is within what time a connection is found to be silent, before the limit of any statement.
const noticed = 20 * time.Second

// Silence forgets the connections of a program, as a firewall does that has lost its state: what runs each second goes on
// after seconds, what others change is heard again, and the log says why. open opens the database at a URL.
func Silence(t *testing.T, open func(url string) *store.DB) {
	t.Helper()
	d := migrated.New(t, storetest.Postgres)
	n := network.New(t, d.URL)
	db := open(n.URL)
	var ran atomic.Int32
	var said storetest.Log
	log := said.Logger()
	e, err := executor.New(db.Jobs(), executor.Config{Name: "e", PollInterval: time.Hour, Logger: log})
	must(t, err)
	e.Register("note", func(context.Context, *jobqueue.JobContext) error { ran.Add(1); return nil })
	s, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "s", PollInterval: time.Hour, Logger: log})
	must(t, err)
	must(t, e.Start(t.Context()))
	must(t, s.Start(t.Context()))
	d.Exec("INSERT INTO periodic_task (id, task, timer) VALUES ('each second', 'note', 'every 1s')")
	storetest.Eventually(t, "three runs", func() bool { return ran.Load() > 2 })
	n.Forget()
	forgotten, before := time.Now(), ran.Load()
	d.Exec("INSERT INTO periodic_task (id, task, timer) VALUES ('heard of', 'nobody has it', 'every 1s')")
	storetest.Eventually(t, "the task that was added has a job", func() bool { return d.One("SELECT count(*) FROM job WHERE tracker = 'heard of'") != "0" })
	storetest.Eventually(t, "more runs", func() bool { return ran.Load() > before+2 })
	if took := time.Since(forgotten); took > noticed {
		t.Errorf("it took %s", took)
	}
	if text := said.String(); !strings.Contains(text, "level=WARN") && !strings.Contains(text, "level=ERROR") {
		t.Errorf("the log says nothing of it:\n%s", text)
	}
	must(t, s.Stop(context.Background()))
	must(t, e.Stop(context.Background()))
}
