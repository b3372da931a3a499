//go:build crashpoints && linux

package crash_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/program"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store/internal/testkit/crash"
)

// settings are the configuration of the processes. %[1]s is the URL of the receiver of events, %[2]s a file.
const settings = `
database: {idle_timeout: 6s, statement_timeout: 4s, lock_timeout: 4s}
scheduler: {lease: 1s, lock: {ttl: 10s, heartbeat: 1s}}
executor: {retry_delay: 100ms, max_interrupts: 1000, shutdown_grace: 100ms}
relay: {lease: 3s, topics: {orders: {webhook: {url: "%[1]s", timeout: 1s}}}}
handlers:
  program: {command: [sh, -c, 'echo $NEXTRUN_JOB_ID >> %[2]s']}
  first: {command: [sh, -c, 'echo $NEXTRUN_JOB_ID >> %[2]s'], on_success: {submit: next}}
  slow: {command: [sh, -c, 'echo $NEXTRUN_JOB_ID >> %[2]s; sleep 2.4']}
  fragile: {command: [sh, -c, 'mkdir %[2]s.$NEXTRUN_JOB_ID && exit 1; echo $NEXTRUN_JOB_ID >> %[2]s']}
  effect:
    sql:
      - INSERT INTO effect (jid, tracker, due) VALUES (:nextrun_job_id, :nextrun_task, :nextrun_due)
      - UPDATE effects SET sum = sum + 1
queues:
  mail:
    type: sql
    enqueue: INSERT INTO mail (jid, task_id, due) SELECT jid, task_id, due FROM nextrun_batch
    pending: SELECT o.jid FROM nextrun_open AS o JOIN mail AS m ON m.jid = o.jid WHERE NOT m.done
    outcome: SELECT o.jid, CASE WHEN m.done THEN 'success' END AS outcome FROM nextrun_open AS o JOIN mail AS m ON m.jid = o.jid
`

// rows are tasks that are due every two seconds, one that a hook submits, one that is not planned yet, one that has missed ticks,
// one that a dead scheduler has marked, and a job of a dead executor. One task is due half a second after the others, so that
// a batch is its alone: PostgreSQL submits such a batch with one statement.
const rows = `
CREATE TABLE mail (jid varchar(254) PRIMARY KEY, task_id varchar(254), due timestamp, done boolean NOT NULL DEFAULT false);
CREATE TABLE effect (jid varchar(254), tracker varchar(254), due timestamp);
CREATE TABLE effects (sum integer);
INSERT INTO effects (sum) VALUES (0);
DELETE FROM periodic_task;
INSERT INTO periodic_task (id, task, timer, overlap, sink, group_, due, nextrun) VALUES
	('skip', 'program', '*:*:0/2', 'skip', 'job', 'default', '{first}', '{first}'),
	('allow', 'first', '*:*:0/2', 'allow', 'job', 'default', '{first}', '{first}'),
	('queue', 'slow', '*:*:0/2', 'queue', 'job', 'default', '{first}', '{first}'),
	('replace', 'slow', '*:*:0/2', 'replace', 'job', 'default', '{first}', '{first}'),
	('fragile', 'fragile', '*:*:0/2', 'allow', 'job', 'default', '{first}', '{first}'),
	('effect', 'effect', '*:*:0/2', 'allow', 'job', 'default', '{first}', '{first}'),
	('event', 'happened', '*:*:0/2', 'allow', 'event', 'orders', '{first}', '{first}'),
	('mail', 'send', '*:*:0/2', 'allow', 'mail', 'default', '{first}', '{first}'),
	('mailqueue', 'send', '*:*:0/2', 'queue', 'mail', 'default', '{first}', '{first}'),
	('half', 'program', '*:*:00.5/2', 'allow', 'job', 'default', '{half}', '{half}');
INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('next', 'program', '2199-01-01', 'allow');
INSERT INTO periodic_task (id, task, timer, catchup, due, nextrun, worker, marked) VALUES
	('unplanned', 'program', 'yearly', 'one', NULL, '1970-01-01 00:00:00.000000', NULL, NULL),
	('missed', 'program', 'hourly', 'none', '{hour}', '{hour}', NULL, NULL),
	('marked', 'program', 'hourly', 'one', '{hour}', '{hour}', 'dead@1.1', '{ago}');
INSERT INTO job (jid, task, state, worker, started) VALUES ('left', 'program', 'running', 'dead@000000000001', '{ago}')`

// often is a condition for the first kind of tasks, and period how often they are due.
const (
	often  = " timer LIKE '*:*:%' "
	period = 2 * time.Second
)

// allDone is whether the executor has taken the job of the dead one, which it does last, and the end of a mail is recorded.
const allDone = `SELECT count(*) FROM job WHERE jid = 'left' AND state = 'success'
	AND EXISTS (SELECT 1 FROM periodic_tick WHERE task_id = 'mail' AND outcome = 'success')`

// world is a database with the processes that use it.
type world struct {
	*migrated.Database
	t           *testing.T
	first       time.Time // tick of the tasks
	ran         string    // the file with the ids of jobs that ran
	environment []string
	mu          sync.Mutex
	events      map[string]int // deliveries by id
	hasty       *sqlx.DB       // without patience
	stopped     bool           // the first process was stopped
}

func newWorld(t *testing.T, kind, mode string) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{Database: migrated.New(t, kind), t: t, ran: filepath.Join(dir, "ran"), events: map[string]int{}}
	receiver := httptest.NewServer(http.HandlerFunc(w.receive))
	t.Cleanup(receiver.Close)
	config := filepath.Join(dir, "nextrun.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, settings, receiver.URL, w.ran), 0o600); err != nil {
		t.Fatal(err)
	}
	w.environment = []string{"NEXTRUN_CONFIG=" + config, "NEXTRUN_MODE=" + mode}
	if w.hasty = w.SQL; kind == storetest.SQLite {
		w.hasty = sqlx.MustOpen("sqlite3", strings.Replace(w.URL, "sqlite:", "file:", 1)+"?_busy_timeout=100")
		t.Cleanup(func() { _ = w.hasty.Close() })
	}
	now := time.Now().UTC()
	w.first = now.Truncate(period).Add(period)
	w.Exec(strings.NewReplacer("{first}", timestamp(w.first), "{half}", timestamp(w.first.Add(time.Second/2)),
		"{hour}", timestamp(now.Truncate(time.Hour).Add(-time.Hour)), "{ago}", timestamp(now.Add(-3*time.Second))).Replace(rows))
	return w
}

// receive gets events. Of each the first delivery fails.
func (w *world) receive(answer http.ResponseWriter, r *http.Request) {
	var e struct{ ID string }
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
		w.t.Error(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.events[e.ID]++; w.events[e.ID] == 1 {
		answer.WriteHeader(http.StatusServiceUnavailable)
	}
}

// timestamp is a time as the tables have it.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000") }

// crash lets a process come to its place, and another one take over and end all work. The process is asked to end if it has
// done all that it can do, and did not come there.
func (w *world) crash(at crash.Place) *program.Process {
	w.t.Helper()
	a := w.serve("a", at)
	hit := func() bool {
		w.stopped = stopped(a)
		return w.stopped || a.Ended()
	}
	w.eventually("the place of the process, or all that it does", func() bool {
		return hit() || w.One(allDone) == "1"
	})
	if !hit() {
		a.Signal(syscall.SIGTERM)
		w.eventually("the end of the process", hit)
	}
	held := w.stopped && !w.sendMail() // in a transaction of SQLite, which has one writer
	b, after := w.serve("b", crash.Place{}), time.Now()
	switch {
	case held: // nobody can start
		if b.End() == 0 || !strings.Contains(b.Said(), "start failed at") {
			w.t.Error("a process has started while another one held the database")
		}
		b = w.serve("b", crash.Place{})
	case w.stopped: // the other one takes over its work
		w.ticksSince(after)
		w.none("SELECT count(*) FROM job WHERE state IN ('scheduled', 'running') AND worker LIKE 'a@%'")
		w.none("SELECT count(*) FROM scheduler_lock WHERE holder LIKE 'a@%'")
	}
	if w.stopped {
		a.Signal(syscall.SIGCONT)
		after = time.Now()
	}
	w.ticksSince(after)
	w.Exec("UPDATE periodic_task SET ends = ? WHERE"+often, timestamp(time.Now()))
	for _, left := range []string{
		"SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL OR due IS NULL", "SELECT count(*) FROM periodic_open",
		"SELECT count(*) FROM job WHERE state NOT IN ('success', 'failed', 'cancelled')",
		"SELECT count(*) FROM outbox_message WHERE published IS NULL AND dead IS NULL",
	} {
		w.none(left)
	}
	for _, p := range []*program.Process{a, b} {
		_ = p.Command.Process.Signal(syscall.SIGTERM) // unless it has ended
		if p.End() != 0 && !killed(p) && !strings.Contains(p.Said(), " failed at ") {
			w.t.Error("a process did not end well") // who stops in its start or its end may say that it has lost its connection
		}
	}
	w.check()
	return a
}

func (w *world) serve(name string, at crash.Place) *program.Process {
	w.t.Helper()
	return start(w.Database.Database, at, w.environment, "serve", "--name", name)
}

// ticksSince waits for ticks of all tasks that are due after a time.
func (w *world) ticksSince(after time.Time) {
	w.t.Helper()
	w.none(`SELECT count(*) FROM periodic_task WHERE`+often+`AND NOT EXISTS (SELECT 1 FROM periodic_tick
		WHERE task_id = id AND coalesce(until, periodic_tick.due) >= ?)`, timestamp(after))
}

// none waits until a query counts nothing any more.
func (w *world) none(query string, args ...any) {
	w.t.Helper()
	w.eventually("0 = "+query, func() bool { return w.One(query, args...) == "0" })
}

// eventually waits until something holds, and does the work of the other queue.
func (w *world) eventually(what string, holds func() bool) {
	w.t.Helper()
	storetest.Eventually(w.t, what, func() bool {
		w.sendMail()
		return holds()
	})
}

// sendMail does the work of the other queue. It fails while somebody has locked the file.
func (w *world) sendMail() bool {
	_, err := w.hasty.Exec(w.hasty.Rebind("UPDATE mail SET done = true WHERE NOT done AND due <= ?"), timestamp(time.Now().Add(-2400*time.Millisecond)))
	return err == nil
}

// violations are queries that count rows which there must not be.
var violations = map[string]string{
	"ticks with two jobs": `SELECT count(*) FROM (SELECT tracker, due FROM job WHERE due IS NOT NULL GROUP BY tracker, due HAVING count(*) > 1) AS d`,
	"ticks without their job": `SELECT count(*) FROM periodic_tick AS k JOIN periodic_task AS t ON t.id = k.task_id WHERE k.decision = 'submitted' AND t.sink = 'job'
		AND NOT EXISTS (SELECT 1 FROM job AS j WHERE j.jid = k.jid AND j.tracker = k.task_id AND j.due = k.due)`,
	"jobs without their tick": `SELECT count(*) FROM job AS j WHERE j.due IS NOT NULL
		AND NOT EXISTS (SELECT 1 FROM periodic_tick AS k WHERE k.jid = j.jid AND k.decision = 'submitted')`,
	"ticks without their event": `SELECT count(*) FROM periodic_tick AS k WHERE k.decision = 'submitted' AND k.task_id = 'event'
		AND NOT EXISTS (SELECT 1 FROM event_store AS e WHERE e.id = k.jid AND e.aggregate_id = k.task_id AND e.due = k.due)`,
	"ticks without their mail": `SELECT count(*) FROM periodic_tick AS k WHERE k.decision = 'submitted' AND k.task_id LIKE 'mail%'
		AND NOT EXISTS (SELECT 1 FROM mail AS m WHERE m.jid = k.jid AND m.task_id = k.task_id AND m.due = k.due)`,
	"mail without its tick":                  `SELECT count(*) FROM mail AS m WHERE NOT EXISTS (SELECT 1 FROM periodic_tick AS k WHERE k.jid = m.jid AND k.decision = 'submitted')`,
	"marks":                                  `SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL OR marked IS NOT NULL`,
	"jobs that did not end as they should":   `SELECT count(*) FROM job WHERE state <> 'success' AND NOT (state = 'cancelled' AND tracker = 'replace')`,
	"tasks with a problem, or no tick":       `SELECT count(*) FROM periodic_task WHERE problem IS NOT NULL OR timer NOT IN ('yearly', '2199-01-01') AND NOT EXISTS (SELECT 1 FROM periodic_tick WHERE task_id = id)`,
	"jobs whose effect did not happen once":  `SELECT count(*) FROM job AS j WHERE j.task = 'effect' AND 1 <> (SELECT count(*) FROM effect AS e WHERE e.jid = j.jid AND e.due = j.due)`,
	"effects that are not one for each tick": `SELECT abs((SELECT sum FROM effects) - (SELECT count(*) FROM periodic_tick WHERE task_id = 'effect' AND decision = 'submitted'))`,
	"jobs that no other one follows": `SELECT abs((SELECT count(*) FROM job WHERE task = 'first' AND state = 'success') -
		(SELECT count(*) FROM periodic_tick WHERE task_id = 'next'))`,
	"jobs of the dead that were not taken back": `SELECT 1 - count(*) FROM job WHERE jid = 'left' AND interrupts >= 1`,
	"dead messages": `SELECT count(*) FROM outbox_message WHERE dead IS NOT NULL`,
}

// check counts by itself what has become of the ticks, jobs and events, and verifies the guarantees.
func (w *world) check() {
	w.t.Helper()
	for what, query := range violations {
		if n := w.One(query); n != "0" {
			w.t.Errorf("%s: %s", what, n)
		}
	}
	w.accounted()
	ran, err := os.ReadFile(w.ran)
	if err != nil {
		w.t.Error(err)
	}
	for _, jid := range w.ids(`SELECT jid FROM job WHERE state = 'success' AND task IN ('program', 'first', 'slow', 'fragile')`) {
		if !strings.Contains(string(ran), jid) {
			w.t.Errorf("job %s has succeeded, and nobody has run it", jid)
		}
	}
	for _, id := range w.ids(`SELECT id FROM event_store WHERE due IS NOT NULL`) {
		if w.events[id] < 2 {
			w.t.Errorf("event %s was not delivered", id)
		}
	}
	w.Verify()
}

// accounted checks that the ticks of each task follow each other without a gap, from the one that was planned.
func (w *world) accounted() {
	w.t.Helper()
	for _, id := range w.ids("SELECT id FROM periodic_task WHERE" + often) {
		next := w.first
		if id == "half" {
			next = next.Add(time.Second / 2)
		}
		var ticks []struct {
			Due    time.Time
			Until  sql.NullTime
			Missed int
		}
		if err := w.SQL.Select(&ticks, w.SQL.Rebind("SELECT due, until, missed FROM periodic_tick WHERE task_id = ? ORDER BY due"), id); err != nil {
			w.t.Fatal(err)
		}
		for _, k := range ticks {
			last := k.Due
			if k.Until.Valid {
				last = k.Until.Time
			}
			if !k.Due.Equal(next) || k.Until.Valid && k.Missed != int(last.Sub(k.Due)/period)+1 {
				w.t.Errorf("%s: the ticks from %s on are not accounted for; then comes %+v", id, next, k)
			}
			next = last.Add(period)
		}
	}
}

func (w *world) ids(query string) (ids []string) {
	w.t.Helper()
	if err := w.SQL.Select(&ids, query); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	return ids
}
