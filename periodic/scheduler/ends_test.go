package scheduler_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/periodic/sink"
)

const endOf = `SELECT coalesce(outcome, 'open') || ' ' || coalesce(attempts, 0) || ' ' || coalesce(error, '') FROM periodic_tick WHERE task_id = ?`

// How a job in another queue ended is in its tick, and the hooks hear of it once. What the queue
// does not have any more ended as the queue says, unless nextrun has cancelled it.
func TestEndsAreRecorded(t *testing.T) {
	both(t, func(f *fixture) {
		q := &acmeTeller{acme: f.acme(), gone: sink.EndUnknown}
		ids := []string{"success", "failed", "cancelled", "busy", "gone", "asked"}
		f.submitted(q, ids...)
		f.want(len(ids), "SELECT count(*) FROM periodic_open WHERE sink = 'acme' AND ref = 'acme-' || jid")
		f.exec("UPDATE acme_job SET state = tracker")
		f.exec("DELETE FROM acme_job WHERE tracker IN ('gone', 'asked')")
		f.exec("UPDATE periodic_open SET asked = '2026-01-02 03:04:05.000000' WHERE task_id = 'asked'")
		hooks := &endHooks{}
		found := f.asks(q, hooks)
		if found.Asked != len(ids) || len(found.Ended) != len(ids)-1 {
			t.Errorf("found %+v", found)
		}
		for id, want := range map[string]string{
			"success": "success 2 ", "failed": "failed 2 no space left", "cancelled": "cancelled 2 no space left",
			"busy": "open 0 ", "gone": "unknown 0 the queue does not have the job any more", "asked": "cancelled 0 the queue does not have the job any more",
		} {
			f.want(want, endOf, id)
		}
		f.want(1, "SELECT count(*) FROM periodic_tick WHERE task_id = 'asked' AND finished = '2026-01-02 03:04:05.000000'")
		f.want(4, "SELECT count(*) FROM periodic_tick WHERE outcome IS NOT NULL AND task_id <> 'asked' AND finished >= decided")
		f.want("busy", "SELECT task_id FROM periodic_open")
		slices.Sort(hooks.told)
		want := []string{"failed failed no space left", "gone unknown the queue does not have the job any more", "success success "}
		if !slices.Equal(hooks.told, want) {
			t.Errorf("told %q, want %q", hooks.told, want)
		}
		f.exec("UPDATE periodic_open SET look = ?", f.at(time.Hour))
		if again := f.asks(q, hooks); again.Asked != 0 || !again.Next.After(again.Now) {
			t.Errorf("asked before its next look: %+v", again)
		}
	})
}

// An end that cannot be recorded, or read, holds up no other: the job is named, and has another turn.
func TestEndsThatCannotBeRecorded(t *testing.T) {
	both(t, func(f *fixture) {
		q := &acmeTeller{acme: f.acme(), gone: sink.EndGone}
		ids := make([]string, 120)
		for i := range ids {
			ids[i] = fmt.Sprintf("t%03d", i)
		}
		f.submitted(q, ids...)
		f.exec("UPDATE acme_job SET state = 'success'")
		f.Refuse("periodic_tick", "UPDATE", "NEW.outcome IS NOT NULL AND NEW.task_id = 't007'", "P0001")
		f.exec("CREATE TABLE parent (id varchar(9) PRIMARY KEY)")
		f.exec("CREATE TABLE child (id varchar(9) REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)") // refuses the commit
		insert := "INSERT INTO child VALUES (NEW.task_id)"
		f.Trigger("periodic_tick", "UPDATE", "NEW.outcome IS NOT NULL AND NEW.task_id = 't008'", insert+"; RETURN NEW", insert)
		q.unreadable = f.one("SELECT jid FROM periodic_open WHERE task_id = 't101'")
		found := f.asks(q, nil)
		bad := map[string]string{}
		for _, b := range found.Bad {
			bad[b.TaskID] = b.Err.Error()
		}
		if len(found.Ended) != 117 || len(bad) != 3 || bad["t101"] == "" || !strings.Contains(bad["t007"], "hands off") || !strings.Contains(bad["t008"], "commit") {
			t.Errorf("%d ended; bad: %+v", len(found.Ended), found.Bad)
		}
		f.want(117, "SELECT count(*) FROM periodic_tick WHERE outcome = 'success'")
		f.want(3, "SELECT count(*) FROM periodic_open WHERE look > submitted")
	})
}

// The row of a job in a queue that does not tell how its jobs end goes when the job is not pending any more.
func TestEndsOfAQueueThatDoesNotTell(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		f.submitted(q, "a", "b")
		f.exec("UPDATE acme_job SET state = 'done' WHERE tracker = 'a'")
		if found := f.asks(q, nil); found.Asked != 2 || len(found.Ended) != 0 {
			t.Errorf("found %+v", found)
		}
		f.want("b", "SELECT task_id FROM periodic_open")
		f.want(0, "SELECT count(*) FROM periodic_tick WHERE outcome IS NOT NULL")
	})
}

// Several schedulers that ask at the same time record each end once.
func TestEndsAreToldOnce(t *testing.T) {
	both(t, func(f *fixture) {
		q := &acmeTeller{acme: f.acme(), gone: sink.EndGone}
		ids := make([]string, 40)
		for i := range ids {
			ids[i] = fmt.Sprintf("t%02d", i)
		}
		f.submitted(q, ids...)
		f.exec("UPDATE acme_job SET state = 'failed'")
		hooks := &endHooks{}
		ask := f.question(q, hooks)
		ask.Limit = 7
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 200 {
					// All ask about the same. Two of these statements may deadlock; then one of them is enough.
					_, _ = f.SQL.ExecContext(f.Context(), "UPDATE periodic_open SET look = '2026-01-01 00:00:00.000000'")
					if found, err := f.db.Periodic().AskEnds(f.Context(), ask); err == nil && found.Asked == 0 {
						return
					}
				}
			})
		}
		all.Wait()
		f.want(40, "SELECT count(*) FROM periodic_tick WHERE outcome = 'failed'")
		f.want(0, "SELECT count(*) FROM periodic_open")
		if len(hooks.told) != 40 {
			t.Errorf("the hooks were told %d times of 40 ends", len(hooks.told))
		}
	})
}

// A queue that cannot say how its jobs end is reported once, and holds up neither ticks nor the
// ends of other queues.
func TestEndsOfAQueueThatDoesNotAnswer(t *testing.T) {
	both(t, func(f *fixture) {
		deaf := &acmeTeller{acme: f.acme(), deaf: func() error { return errors.New("no such view") }}
		good := &acmeTeller{acme: deaf.acme, gone: sink.EndGone}
		f.submitted(deaf, "a")
		f.exec("UPDATE acme_job SET state = 'failed'")
		s, seen := f.start(f.db.Periodic(), func(c *scheduler.Config) { c.Submitters = periodic.Submitters{"acme": deaf, "other": good} })
		f.exec("INSERT INTO periodic_task (id, task, timer, sink, nextrun) VALUES ('b', 'b', 'yearly', 'other', '2026-01-01 00:00:00.000000')")
		storetest.Eventually(t, "the tick of b", func() bool { return f.one("SELECT count(*) FROM acme_job WHERE tracker = 'b'") == "1" })
		f.exec("UPDATE acme_job SET state = 'success' WHERE tracker = 'b'")
		storetest.Eventually(t, "the end of b", func() bool { return f.one(endOf, "b") == "success 2 " })
		f.want("open 0 ", endOf, "a")
		f.want(0, "SELECT count(*) FROM periodic_task WHERE problem IS NOT NULL")
		f.stop(s)
		errs, ends := 0, 0
		for _, e := range seen.list {
			switch {
			case e.Kind == scheduler.EventError && strings.Contains(e.Err.Error(), `queue "acme": no such view`):
				errs++
			case e.Kind == scheduler.EventEnded && e.Tick.TaskID == "b":
				ends++
			}
		}
		if errs != 1 || ends != 1 {
			t.Errorf("%d errors and %d ends were reported, want one of each", errs, ends)
		}
	})
}

// A scheduler that runs once asks, too, and one without such a queue never does.
func TestEndsOnce(t *testing.T) {
	both(t, func(f *fixture) {
		q := &acmeTeller{acme: f.acme()}
		f.submitted(q, "failed")
		f.exec("UPDATE acme_job SET state = tracker")
		f.once()
		f.want("open 0 ", endOf, "failed")
		f.once(withAcme(q))
		f.want("failed 2 no space left", endOf, "failed")
	})
}
