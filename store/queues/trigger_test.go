package queues_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/store/queues"
)

// TestEndTrigger: the trigger deletes the row of periodic_open when a job ends, and
// only then, and leaves nothing behind when it is dropped.
func TestEndTrigger(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		sink := "river-" + strings.Repeat("x", 58) // the longest
		q := f.queue(queues.River{})
		trigger, err := q.EndTrigger(t.Context(), sink)
		if err != nil {
			t.Fatal(err)
		}
		open := f.accept(q, f.tasks(5)...)
		for _, o := range open {
			f.Exec("INSERT INTO periodic_open (task_id, sink, ref, jid, due, submitted) VALUES (?, ?, ?, ?, '2026-03-04 05:06:07.000000', '2026-03-04 05:06:07.000000')",
				o.TaskID, sink, o.Ref, o.JID)
		}
		f.Exec("UPDATE periodic_open SET sink = 'other' WHERE task_id = 't4'")
		f.Exec(trigger.Create)
		f.Exec(trigger.Create) // again, as after a change of the queue
		set := func(i int, what string) {
			f.Exec("UPDATE river_job SET "+what+" WHERE id = CAST(? AS integer)", open[i].Ref)
		}
		set(0, "state = 'running'")
		set(1, "state = 'completed', finalized_at = CURRENT_TIMESTAMP")
		set(4, "state = 'completed', finalized_at = CURRENT_TIMESTAMP")
		f.Exec("DELETE FROM river_job WHERE id = CAST(? AS integer)", open[2].Ref)
		f.Want("t0 t3 t4", "SELECT "+f.join("task_id")+" FROM (SELECT task_id FROM periodic_open ORDER BY task_id) AS o")
		f.Exec(trigger.Drop)
		set(3, "state = 'cancelled', finalized_at = CURRENT_TIMESTAMP")
		f.Want(3, "SELECT count(*) FROM periodic_open")
		f.Exec("DELETE FROM river_job")
	})
}

func TestEndTriggerNeedsAName(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		if _, err := f.queue(queues.River{}).EndTrigger(t.Context(), `x'; DROP TABLE job; --`); err == nil || errors.Is(err, queues.ErrNoTrigger) {
			t.Errorf("the error is %v, want one about the name", err)
		}
	})
}
