//go:build crashpoints && linux

package crash_test

import (
	"database/sql"
	"os"
	"strings"
	"time"
)

// check counts by itself what has become of the ticks, jobs and events of a run, and verifies the guarantees.
func (c *crashes) check(a, b *process, reached bool) {
	c.t.Helper()
	before := c.t.Failed()
	if code := exitCode(b.err); code != 0 {
		c.t.Errorf("the clean process ended with exit code %d", code)
	}
	// A process that stands still while it starts may give up; while it ends, it may take too long.
	if code := exitCode(a.err); code > 0 && reached && a.hasStarted() {
		c.t.Errorf("the process that had been stopped ended with exit code %d", code)
	}
	c.none()
	c.accounted()
	c.ran()
	c.delivered()
	c.Verify()
	if c.t.Failed() && !before {
		c.t.Logf("a:\n%s\nb:\n%s", a.output(), b.output())
	}
}

// violations are queries that count rows which there must not be.
var violations = map[string]string{
	"ticks with two jobs": `SELECT count(*) FROM (SELECT tracker, due FROM job WHERE due IS NOT NULL GROUP BY tracker, due HAVING count(*) > 1) AS d`,
	"ticks without their job": `SELECT count(*) FROM periodic_tick AS k JOIN periodic_task AS t ON t.id = k.task_id WHERE k.decision = 'submitted' AND t.sink = 'job'
		AND NOT EXISTS (SELECT 1 FROM job AS j WHERE j.jid = k.jid AND j.tracker = k.task_id AND j.due = k.due)`,
	"jobs without their tick": `SELECT count(*) FROM job AS j WHERE j.due IS NOT NULL
		AND NOT EXISTS (SELECT 1 FROM periodic_tick AS k WHERE k.jid = j.jid AND k.decision = 'submitted')`,
	"ticks without their event": `SELECT count(*) FROM periodic_tick AS k JOIN periodic_task AS t ON t.id = k.task_id WHERE k.decision = 'submitted' AND t.sink = 'event'
		AND NOT EXISTS (SELECT 1 FROM event_store AS e WHERE e.id = k.jid AND e.aggregate_id = k.task_id AND e.due = k.due)`,
	"ticks without their mail": `SELECT count(*) FROM periodic_tick AS k JOIN periodic_task AS t ON t.id = k.task_id WHERE k.decision = 'submitted' AND t.sink = 'mail'
		AND NOT EXISTS (SELECT 1 FROM mail AS m WHERE m.jid = k.jid AND m.task_id = k.task_id AND m.due = k.due)`,
	"mail without its tick": `SELECT count(*) FROM mail AS m WHERE NOT EXISTS (SELECT 1 FROM periodic_tick AS k WHERE k.jid = m.jid AND k.decision = 'submitted')`,
	"marks":                 `SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL OR marked IS NOT NULL`,
	"jobs that did not end as they should": `SELECT count(*) FROM job WHERE state <> CASE task WHEN 'broken' THEN 'failed' ELSE 'success' END
		AND NOT (state = 'cancelled' AND tracker LIKE '%-replace')`,
	"tasks with a problem":          `SELECT count(*) FROM periodic_task WHERE problem IS NOT NULL`,
	"dead messages of other topics": `SELECT count(*) FROM outbox_message WHERE dead IS NOT NULL AND topic <> 'refused'`,
	"jobs whose effect did not happen once": `SELECT count(*) FROM job AS j WHERE j.task = 'effect' AND j.state = 'success'
		AND 1 <> (SELECT count(*) FROM effect AS e WHERE e.jid = j.jid AND e.tracker = j.tracker AND e.due = j.due)`,
	"effects without the end of their job": `SELECT count(*) FROM effect AS e WHERE NOT EXISTS (SELECT 1 FROM job AS j WHERE j.jid = e.jid AND j.state = 'success')`,
	"effects that are not one for each tick": `SELECT abs((SELECT sum FROM effects) -
		(SELECT count(*) FROM periodic_tick WHERE task_id LIKE '%-effect' AND decision = 'submitted'))`,
	"log lines without a job": `SELECT count(*) FROM joblog WHERE NOT EXISTS (SELECT 1 FROM job WHERE job.jid = joblog.jid)`,
}

// none checks that there are no rows which there must not be.
func (c *crashes) none() {
	c.t.Helper()
	for what, query := range violations {
		if n := c.count(query); n != 0 {
			c.t.Errorf("%s: %d", what, n)
		}
	}
	// Each successful job of the task allow submits one of the task next.
	followed, next := c.count(`SELECT count(*) FROM job WHERE task = 'first' AND state = 'success'`), c.count(`SELECT count(*) FROM periodic_tick WHERE task_id = 'next'`)
	if followed != next {
		c.t.Errorf("%d jobs have succeeded that another one follows, and %d did", followed, next)
	}
	if n := c.count(`SELECT count(*) FROM job WHERE jid = ? AND state = 'success' AND interrupts >= 1`, c.prefix+"left"); n != 1 {
		c.t.Errorf("the job of the dead executor was not taken back")
	}
	for _, name := range []string{"missed", "marked"} {
		if n := c.count(`SELECT count(*) FROM periodic_tick WHERE task_id = ?`, c.prefix+name); n == 0 {
			c.t.Errorf("no tick of the task %s", name)
		}
	}
}

// accounted checks that the ticks of each task follow each other second by second, from
// the one that was planned.
func (c *crashes) accounted() {
	c.t.Helper()
	rows, err := c.SQL.Query(c.SQL.Rebind("SELECT task_id, due, until, missed FROM periodic_tick WHERE task_id LIKE ? ORDER BY task_id, due"), c.prefix+"%")
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	next := map[string]time.Time{}
	for _, t := range c.tasks() {
		next[c.prefix+t.name] = c.first
		if strings.HasSuffix(t.name, half) {
			next[c.prefix+t.name] = c.first.Add(time.Second / 2)
		}
	}
	for rows.Next() {
		var id string
		var due time.Time
		var until sql.NullTime
		var missed int
		if err := rows.Scan(&id, &due, &until, &missed); err != nil {
			c.t.Fatal(err)
		}
		want, ours := next[id]
		if !ours {
			continue
		}
		if !due.Equal(want) {
			c.t.Errorf("%s: the tick of %s is not accounted for; the next one is of %s", id, want, due)
		}
		last := due
		if until.Valid {
			last = until.Time
			if n := int(last.Sub(due)/time.Second) + 1; n != missed {
				c.t.Errorf("%s: %d ticks from %s to %s, recorded as %d", id, n, due, last, missed)
			}
		}
		next[id] = last.Add(time.Second)
	}
	if err := rows.Err(); err != nil {
		c.t.Fatal(err)
	}
}

// ran checks that the handler of each job was called that says it was.
func (c *crashes) ran() {
	c.t.Helper()
	programs, _ := os.ReadFile(c.programs) // none has run if there is no file
	for _, jid := range c.ids(`SELECT jid FROM job WHERE state IN ('success', 'failed') AND task NOT IN ('effect', 'nextrun.hook')`) {
		calls, _, _ := c.receiver.heardOf(jid)
		if calls == 0 && !strings.Contains(string(programs), jid) {
			c.t.Errorf("job %s has ended, and nobody has run it", jid)
		}
	}
}

// delivered checks that each event has arrived, and in order.
func (c *crashes) delivered() {
	c.t.Helper()
	for _, id := range c.ids(`SELECT topic || '/' || id FROM event_store WHERE due IS NOT NULL`) {
		if _, events, _ := c.receiver.heardOf(id); events == 0 {
			c.t.Errorf("event %s was not delivered", id)
		}
	}
	for _, id := range c.ids(`SELECT jid FROM job WHERE task = 'nextrun.hook' AND args NOT LIKE '%handlers.first%'`) {
		if _, _, hooks := c.receiver.heardOf(id); hooks == 0 {
			c.t.Errorf("the notice %s of a hook was not delivered", id)
		}
	}
	if text := c.receiver.disorder(); text != "" {
		c.t.Errorf("events came out of order: %s", text)
	}
}

func (c *crashes) ids(query string) (ids []string) {
	c.t.Helper()
	if err := c.SQL.Select(&ids, query); err != nil {
		c.t.Fatalf("%s: %v", query, err)
	}
	return ids
}
