package service_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// Pages that the database answers too slowly say so, wait on two connections at most,
// and hold up no task.
func TestSlowPagesHoldUpNothing(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": d.URL, "NEXTRUN_NAME": "test"}}
	d.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('other', 'work', 'yearly')`)
	d.Exec(`INSERT INTO job (jid, task) VALUES ('old', 'work')`)
	b, address := webOf(t, s, "dashboard", "serve", "--dashboard", "127.0.0.1:0")

	// Pages read joblog; schedulers do not.
	tx := d.Hold("LOCK TABLE joblog")
	stop, said, asking := make(chan struct{}), make(chan string, 100), sync.WaitGroup{}
	for range 6 {
		asking.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				code, body := fetch(t, address+"run?job=old", "", nil)
				if code != http.StatusGatewayTimeout && code != http.StatusServiceUnavailable {
					t.Errorf("status %d: %s", code, body)
					return
				}
				select {
				case said <- body:
				default:
				}
			}
		})
	}
	most := 0
	waiting := func() int {
		var n int
		err := d.SQL.GetContext(t.Context(), &n, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'joblog'::regclass")
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, n)
		return n
	}
	storetest.Eventually(t, "two pages wait for the database", func() bool { return waiting() == 2 })
	d.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('report', 'work', 'yearly', '2026-01-01 00:00:00')`)
	b.WaitFor("job submitted", "report")
	storetest.Eventually(t, "a page has said that the database is slow", func() bool { waiting(); return len(said) > 0 })
	if body := <-said; !strings.Contains(body, "the database did not answer within 2 s") {
		t.Errorf("the page says %s", body)
	}
	close(stop)
	asking.Wait()
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	if most > 2 {
		t.Errorf("pages use %d connections", most)
	}
	if code, _ := fetch(t, address+"run?job=old", "", nil); code != http.StatusOK {
		t.Errorf("afterwards the status is %d", code)
	}
	b.Stop()
	b.WaitFor("stopped")
}
