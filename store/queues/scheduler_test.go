package queues_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/queues"
)

// TestSchedulerKeepsAJobThatItMayNotSee: a task whose job is in a queue of PGMQ that was
// closed to the scheduler gets no second job. Tasks of other queues go on.
func TestSchedulerKeepsAJobThatItMayNotSee(t *testing.T) {
	f := pgmqFixture(t)
	f.Exec("INSERT INTO periodic_task (id, task, timer, sink) SELECT g, 'report', 'yearly', g FROM unnest(ARRAY['mail', 'bulk']) AS g")
	role := f.role()
	f.Exec("GRANT USAGE ON SCHEMA pgmq TO " + role.name + "; GRANT ALL ON ALL TABLES IN SCHEMA pgmq TO " + role.name +
		"; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO " + role.name)
	round := func() { // every task is due
		t.Helper()
		db, err := store.Open(t.Context(), role.url, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		submitters := periodic.Submitters{}
		for _, name := range []string{"mail", "bulk"} {
			if submitters[periodic.Sink(name)], err = queues.Open(db, queues.PGMQ{Queue: name}); err != nil {
				t.Fatal(err)
			}
		}
		scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "test", Submitters: submitters})
		if err != nil {
			t.Fatal(err)
		}
		f.Exec("UPDATE periodic_task SET nextrun = ? WHERE timer = 'yearly'", sqldb.Timestamp(time.Now()))
		err = scheduler.RunOnce(t.Context())
		for tries := 0; errors.Is(err, queues.ErrUnusable) && tries < 20; tries++ { // the search for the task has a limit
			err = scheduler.RunOnce(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	round()
	f.Want("1 1", "SELECT (SELECT count(*) FROM pgmq.q_mail) || ' ' || (SELECT count(*) FROM pgmq.q_bulk)")
	f.Exec("SELECT pgmq.archive('bulk', ARRAY[1::bigint])")
	f.Exec("REVOKE SELECT ON pgmq.q_mail FROM " + role.name)
	round()
	f.Want("mail/1", "SELECT ref FROM periodic_open WHERE task_id = 'mail'")
	f.Want("1 1", "SELECT (SELECT count(*) FROM pgmq.q_mail) || ' ' || (SELECT count(*) FROM pgmq.q_bulk)")
}
