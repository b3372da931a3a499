package periodic_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// workQueueFixture makes the table of the queue that docs/queues.md shows, and a
// scheduler and tasks that know it.
func workQueueFixture(f *fixture) (with func(*periodic.Config), tasks *periodic.Tasks) {
	f.exec(`CREATE TABLE work_queue (id text PRIMARY KEY, kind text, payload text, state text DEFAULT 'waiting')`)
	submitters := map[periodic.Sink]periodic.Submitter{"work": workQueue{}}
	return func(c *periodic.Config) { c.Submitters = submitters }, periodic.NewTasks(f.db.Tasks()).With(submitters)
}

// The queue of the documentation does on both databases what the page says.
func TestOwnQueueGetsTheJobs(t *testing.T) {
	both(t, func(f *fixture) {
		with, _ := workQueueFixture(f)
		f.exec(`INSERT INTO periodic_task (id, task, timer, args, sink) VALUES
			('a', 'send', 'yearly', '{"to": "Ada"}', 'work'), ('long', ?, 'yearly', '{}', 'work'), ('plain', 'echo', 'yearly', '{}', 'job')`,
			strings.Repeat("x", 31))
		f.once(with)
		first := f.due("a", 2*time.Minute)
		f.due("long", time.Minute)
		f.due("plain", time.Minute)
		f.once(with)
		f.want(1, `SELECT count(*) FROM work_queue WHERE kind = 'send' AND payload = '{"to": "Ada"}'`)
		f.want(1, `SELECT count(*) FROM work_queue`)
		f.want("echo", `SELECT task FROM job`)
		f.want(1, `SELECT count(*) FROM periodic_tick AS t JOIN work_queue AS q ON q.id = t.jid WHERE decision = 'submitted' AND t.due = ?`, utc(first))
		f.want("skipped", `SELECT decision FROM periodic_tick WHERE task_id = 'long'`)
		if problem := f.one(`SELECT problem FROM periodic_task WHERE id = 'long'`); !strings.Contains(problem, "up to 30 characters") {
			f.Errorf("problem is %q", problem)
		}

		f.due("a", time.Minute)
		f.once(with)
		f.want("skipped", `SELECT decision FROM periodic_tick WHERE task_id = 'a' ORDER BY due DESC LIMIT 1`)
		f.exec(`UPDATE work_queue SET state = 'done'`)
		f.due("a", 30*time.Second)
		f.once(with)
		f.want(2, `SELECT count(*) FROM work_queue`)
	})
}

// Run now of a disabled task and backfill submit without a scheduler. They use the
// same queue, and without its Submitter they say so and write nothing.
func TestOwnQueueWithoutAScheduler(t *testing.T) {
	both(t, func(f *fixture) {
		_, tasks := workQueueFixture(f)
		f.exec(`INSERT INTO periodic_task (id, task, timer, sink, enabled, overlap) VALUES ('a', 'send', 'hourly', 'work', false, 'allow')`)
		now := time.Now()
		past := periodic.Backfill{From: now.Add(-150 * time.Minute), To: now.Add(-30 * time.Minute)}
		without := periodic.NewTasks(f.db.Tasks())
		for _, err := range []error{without.RunNow(f.Context(), "a"), without.Backfill(f.Context(), "a", past)} {
			if err == nil || !strings.Contains(err.Error(), `sink "work": this program has no queue of that name`) {
				f.Errorf("without the queue: %v", err)
			}
		}
		f.want(0, `SELECT count(*) FROM periodic_tick`)
		if err := tasks.RunNow(f.Context(), "a"); err != nil {
			f.Error(err)
		}
		f.want(1, `SELECT count(*) FROM work_queue`)
		if err := tasks.Backfill(f.Context(), "a", past); err != nil {
			f.Error(err)
		}
		f.want(3, `SELECT count(*) FROM work_queue`)
		f.want(0, `SELECT count(*) FROM job`)
		f.want(3, `SELECT count(*) FROM periodic_tick WHERE decision = 'submitted'`)
	})
}
