//go:build crashpoints && linux

package crash_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/crash"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
)

// lease is that of scheduler and relay, the least that they accept, and silence how long an executor is silent
// before it counts as dead.
const lease, silence = time.Second, 12 * time.Second

// settings are the configuration of the processes. %[1]s is the receiver's URL, %[2]s the
// file of the program.
const settings = `
database: {idle_timeout: 1s, statement_timeout: 2s, lock_timeout: 2s}
scheduler: {lease: 1s, retry_min: 20ms, retry_max: 100ms, lock: {ttl: 5s, heartbeat: 300ms}}
executor: {retry_delay: 100ms, max_interrupts: 1000, shutdown_grace: 100ms}
on_failure: {url: "%[1]s/hook"}
on_missed: {url: "%[1]s/hook"}
relay:
  lease: 1s
  retry_min: 50ms
  retry_max: 100ms
  topics:
    orders: {webhook: {url: "%[1]s/event/orders", timeout: 400ms}}
    flaky: {webhook: {url: "%[1]s/event/flaky", timeout: 400ms}}
    refused: {webhook: {url: "%[1]s/event/refused", timeout: 400ms}, refusal_limit: 1}
handlers:
  call: {http: {url: "%[1]s/job/call"}, on_success: {url: "%[1]s/hook"}}
  first: {http: {url: "%[1]s/job/call"}, on_success: {submit: next}}
  slow: {http: {url: "%[1]s/job/slow"}}
  fragile: {http: {url: "%[1]s/job/fragile"}}
  broken: {http: {url: "%[1]s/job/broken"}}
  effect:
    sql:
      - INSERT INTO effect (jid, tracker, due) VALUES (:nextrun_job_id, :nextrun_task, :nextrun_due)
      - UPDATE effects SET sum = sum + 1
  program: {command: [sh, -c, 'echo $NEXTRUN_JOB_ID >> %[2]s']}
`

// otherQueue is the configuration of a queue that is not nextrun's own.
const otherQueue = `
queues:
  mail:
    type: sql
    enqueue: INSERT INTO mail (jid, task_id, due) SELECT jid, task_id, due FROM nextrun_batch
    pending: SELECT o.jid FROM nextrun_open AS o JOIN mail AS m ON m.jid = o.jid WHERE NOT m.done
    outcome: SELECT o.jid, CASE WHEN m.done THEN 'success' END AS outcome FROM nextrun_open AS o JOIN mail AS m ON m.jid = o.jid
    notify: {url: "%[1]s/notify"}
`

// place is a database with the processes that use it.
type place struct {
	*migrated.Database
	t        *testing.T
	config   string
	programs string // file with the ids of the jobs that ran as programs
	receiver *receiver
	worker   *sql.DB // of the other queue
	way
}

// way is how the processes run.
type way struct {
	mode    string // of schedulers
	foreign bool   // there is a queue that is not nextrun's own
}

// newPlace makes a database for a way to run.
func newPlace(t *testing.T, kind string, w way) *place {
	t.Helper()
	dir := t.TempDir()
	p := &place{Database: migrated.New(t, kind), t: t, receiver: newReceiver(t), way: w, config: filepath.Join(dir, "nextrun.yaml"), programs: filepath.Join(dir, "programs")}
	text := settings
	if w.foreign {
		text += otherQueue
	}
	text = fmt.Sprintf(text, p.receiver.URL, p.programs)
	if err := os.WriteFile(p.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p.worker = p.SQL.DB
	if path, ok := strings.CutPrefix(p.URL, "sqlite:"); ok {
		impatient, err := sql.Open("sqlite3", "file:"+path+"?_busy_timeout=200")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = impatient.Close() })
		p.worker = impatient
	}
	p.Exec(`CREATE TABLE mail (jid varchar(254) PRIMARY KEY, task_id varchar(254), due timestamp, done boolean NOT NULL DEFAULT false)`)
	p.Exec(`CREATE TABLE effect (jid varchar(254), tracker varchar(254), due timestamp)`)
	p.Exec(`CREATE TABLE effects (sum integer)`)
	p.Exec(`INSERT INTO effects (sum) VALUES (0)`)
	p.Exec(`INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('next', 'call', '2199-01-01', 'allow')`)
	return p
}

// serve starts an instance to which something happens.
func (p *place) serve(name string, at crash.Place) *process {
	p.t.Helper()
	c := crash.Command(at, "serve", "--name", name)
	c.Env = append(c.Env, "NEXTRUN_DB="+p.URL, "NEXTRUN_CONFIG="+p.config, "NEXTRUN_MODE="+p.mode)
	return start(p.t, name, c)
}

// task is a row of periodic_task.
type task struct {
	name, handler, overlap, sink string
	topic                        string // of events; else default
}

// everySecond are tasks that are due every second.
var everySecond = []task{
	{"skip", "call", "skip", "job", ""},
	{"allow", "first", "allow", "job", ""},
	{"queue", "slow", "queue", "job", ""},
	{"replace", "slow", "replace", "job", ""},
	{"fragile", "fragile", "allow", "job", ""},
	{"broken", "broken", "allow", "job", ""},
	{"program", "program", "allow", "job", ""},
	{"effect", "effect", "allow", "job", ""},
	{"event", "happened", "allow", "event", "orders"},
	{"flaky", "happened", "allow", "event", "flaky"},
	{"refused", "happened", "allow", "event", "refused"},
	{half, "call", "allow", "job", ""},
}

// half is a task that is due half a second after the others, so that a batch is its alone:
// PostgreSQL submits such a batch with one statement.
const half = "half"

// times are the timer and the first tick of a task.
func (t task) times(first time.Time) (timer, due string) {
	if strings.HasSuffix(t.name, half) {
		return "*:*:00.5/1", timestamp(first.Add(time.Second / 2))
	}
	return "*:*:*", timestamp(first)
}

// elsewhere are those whose queue is not nextrun's own.
var elsewhere = []task{
	{"mail", "send", "allow", "mail", ""},
	{"mailqueue", "send", "queue", "mail", ""},
	{"mail" + half, "send", "queue", "mail", ""}, // whose job has ended when the scheduler looks for that of mailqueue
}

func (p *place) tasks() []task {
	if p.foreign {
		return slices.Concat(everySecond, elsewhere)
	}
	return everySecond
}

// timestamp is a time as the tables have it.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000") }

// fill adds the rows of a run: tasks whose first tick is planned, one that is not planned
// yet, one that has missed ticks, one that a dead scheduler has marked, and a job of a dead
// executor.
func (p *place) fill(prefix string) (first time.Time) {
	p.t.Helper()
	now := time.Now().UTC()
	first = now.Truncate(time.Second).Add(time.Second)
	var rows []string
	for _, t := range p.tasks() {
		topic := t.topic
		if topic == "" {
			topic = "default"
		}
		timer, due := t.times(first)
		rows = append(rows, fmt.Sprintf("('%s%s', '%s', '%s', '%s', '%s', '%s', '%s', '%s')",
			prefix, t.name, t.handler, timer, t.overlap, t.sink, topic, due, due))
	}
	p.Exec(`INSERT INTO periodic_task (id, task, timer, overlap, sink, group_, due, nextrun) VALUES ` + strings.Join(rows, ", "))
	hour := timestamp(now.Truncate(time.Hour).Add(-time.Hour))
	p.Exec(`INSERT INTO periodic_task (id, task, timer, catchup, due, nextrun, worker, marked) VALUES
		('`+prefix+`unplanned', 'call', 'yearly', 'one', NULL, '1970-01-01 00:00:00.000000', NULL, NULL),
		('`+prefix+`missed', 'call', 'hourly', 'none', ?, ?, NULL, NULL),
		('`+prefix+`marked', 'call', 'hourly', 'one', ?, ?, 'dead@1.1', ?)`, hour, hour, hour, hour, timestamp(now.Add(-2*lease)))
	p.Exec(`INSERT INTO job (jid, task, state, worker, started) VALUES (?, 'call', 'running', 'dead@000000000001', ?)`,
		prefix+"left", timestamp(now.Add(-3*lease)))
	return first
}
