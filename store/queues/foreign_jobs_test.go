package queues_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store/queues"
)

// wantNotOurs checks that an open job is final, and that its cancellation spares the
// job of somebody else that has its reference now.
func (f *fixture) wantNotOurs(q sink.Submitter, open []sink.Open) {
	f.Helper()
	if got := f.pending(q, open...); len(got) > 0 {
		f.Errorf("pending %+v: that is somebody else's job", got)
	}
	if got := f.cancel(q, open...); len(got) > 0 {
		f.Errorf("cancelled %v: that is somebody else's job", got)
	}
}

// A queue that was dropped and created again counts from 1 again.
func TestPGMQSparesMessagesOfOthers(t *testing.T) {
	f := pgmqFixture(t)
	q := f.queue(queues.PGMQ{Queue: "mail"})
	open := f.accept(q, f.tasks(2)...)
	f.Exec("DROP TABLE pgmq.q_mail, pgmq.a_mail; DELETE FROM pgmq.meta WHERE queue_name = 'mail'; SELECT pgmq.create('mail')")
	f.Exec(`SELECT pgmq.send_batch('mail', ARRAY['{"somebody": "else"}'::jsonb, '{}'], ARRAY['{}'::jsonb, NULL])`)
	f.wantNotOurs(q, open)
	f.Want(2, "SELECT count(*) FROM pgmq.q_mail")
}

func TestRiverSparesJobsOfOthers(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	f := newFixture(t, d.Database, riverFiles(d.Database, 7)...)
	q := f.queue(queues.River{})
	open := f.accept(q, f.tasks(2)...)
	f.Exec("TRUNCATE river_job RESTART IDENTITY")
	f.Exec("INSERT INTO river_job (args, kind, max_attempts) VALUES ('{}', 'x', 1)")
	f.accept(q, f.task("another", "{}"))
	f.wantNotOurs(q, open)
	f.Want(2, "SELECT count(*) FROM river_job WHERE state = 'available'")
}

func TestGraphileSparesJobsOfOthers(t *testing.T) {
	f := graphileFixture(t)
	q := f.queue(queues.GraphileWorker{})
	open := f.accept(q, f.tasks(3)...)
	f.Exec("TRUNCATE graphile_worker._private_jobs RESTART IDENTITY")
	f.Exec("INSERT INTO graphile_worker._private_jobs (task_id, key) VALUES (1, NULL), (1, 'a key of its own')")
	f.accept(q, f.task("another", "{}"))
	f.wantNotOurs(q, open)
	f.Want(3, "SELECT count(*) FROM graphile_worker.jobs")
}

// A remove_job, or an add_jobs, with the key of a running job takes the key and the
// retries away. The job still runs.
func TestGraphileJobThatLostItsKeyIsPending(t *testing.T) {
	f := graphileFixture(t)
	q := f.queue(queues.GraphileWorker{})
	open := f.accept(q, f.tasks(1)...)
	f.Exec("UPDATE graphile_worker._private_jobs SET attempts = 1, locked_at = now(), locked_by = 'w'")
	f.Exec("UPDATE graphile_worker._private_jobs SET key = NULL, attempts = max_attempts")
	wantStates(t, f.pending(q, open...), map[string]string{open[0].JID: "running"})
	wantSame(t, f.cancel(q, open...))
	f.Exec("UPDATE graphile_worker._private_jobs SET locked_at = NULL, locked_by = NULL") // it failed
	wantStates(t, f.pending(q, open...), nil)
}

// TestPGMQKeepsJobsThatItMayNotSee: without rights on a queue nobody knows whether its
// jobs are final.
func TestPGMQKeepsJobsThatItMayNotSee(t *testing.T) {
	f := pgmqFixture(t)
	open := f.accept(f.queue(queues.PGMQ{Queue: "mail"}), f.tasks(1)...)
	role := f.role()
	f.Exec("GRANT USAGE ON SCHEMA pgmq TO " + role.name)
	q := role.queue(queues.PGMQ{Queue: "mail"})
	for what, do := range map[string]func(ctx context.Context, tx jobqueue.DBTX) error{
		"Pending": func(ctx context.Context, tx jobqueue.DBTX) error { _, err := q.Pending(ctx, tx, open); return err },
		"Cancel": func(ctx context.Context, tx jobqueue.DBTX) error {
			_, err := q.(canceller).Cancel(ctx, tx, open, due)
			return err
		},
	} {
		if err := role.update(do); !errors.Is(err, queues.ErrUnusable) || !strings.Contains(err.Error(), "permission denied for table q_mail") {
			t.Errorf("%s: %v; want the right that is missing", what, err)
		}
	}
}
