package drivers_test

import (
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// What another client writes with plain SQL wakes a scheduler and an executor that listen over pgx: guarantee G7,
// from the row's commit to the begin of its job, which are two notifications.
func TestPgxIsWokenByOthers(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	db := openPgx(t, newPool(t, d.URL), store.Options{})
	quiet := logrus.New()
	quiet.SetOutput(io.Discard)
	s, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "pgx", PollInterval: time.Hour, Logger: quiet})
	must(t, err)
	e, err := executor.New(db.Jobs(), executor.Config{Name: "pgx", PollInterval: time.Hour, Logger: quiet})
	must(t, err)
	began := make(chan time.Time, 1)
	e.Register("note", func(context.Context, *jobqueue.JobContext) error { began <- time.Now(); return nil })
	must(t, e.Start(t.Context()))
	must(t, s.Start(t.Context()))
	defer func() {
		must(t, s.Stop(context.Background()))
		must(t, e.Stop(context.Background()))
	}()
	d.Exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('t', 'note', 'yearly', 'allow')")
	storetest.Eventually(t, "the task is planned", func() bool { return d.One("SELECT count(due) FROM periodic_task") == "1" })
	var took []time.Duration
	for range 21 {
		d.Exec("UPDATE periodic_task SET nextrun = now() AT TIME ZONE 'UTC' WHERE id = 't'")
		committed := time.Now()
		select {
		case at := <-began:
			took = append(took, at.Sub(committed))
		case <-time.After(storetest.Patience):
			t.Fatal("nobody was woken")
		}
	}
	slices.Sort(took)
	if t.Logf("median %s, longest %s", took[10], took[20]); took[10] > 200*time.Millisecond {
		t.Errorf("the jobs began %s after the row was written, in the median", took[10])
	}
}
