package scheduler_test

import (
	"context"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/ops/docspell"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// docspellTask and docspellMail are tasks of the fixture.
const (
	docspellTask = "8Xp1-house-keeping"
	docspellMail = "5KqB-scan-mailbox"
)

// newDocspellFixture is a database that Docspell made, with rows of its own,
// to which nextrun came later.
func newDocspellFixture(t *testing.T) *fixture {
	t.Helper()
	d := storetest.New(t, storetest.Postgres)
	schema, err := os.ReadFile("../../testdata/docspell/postgres.sql")
	if err != nil {
		t.Fatal(err)
	}
	d.Exec(string(schema))
	up := migrated.Up(d)
	return &fixture{d, up.Store}
}

// docspellMark is the statement with which Docspell's scheduler takes a task. It does so if that
// has changed a row, and then works on the task as it has read it before.
const docspellMark = "UPDATE periodic_task SET worker = 'joex1', marked = now() AT TIME ZONE 'UTC' WHERE id = $1 AND worker IS NULL"

// Docspell's scheduler takes a task that nobody has marked, as soon as it can lock the row. One
// that waited for nextrun to submit its tick takes nothing; one that comes later may.
func TestDocspellThatWaitedTakesNothing(t *testing.T) {
	t.Parallel()
	f := newDocspellFixture(t)
	f.once()
	f.exec("UPDATE job SET state = 'success'")
	due := f.due(docspellMail, time.Second)
	marked := make(chan int64, 1)
	joex := f.Connect()
	var once sync.Once
	h := &hooked{Store: f.db.Periodic(), afterAdvance: func() error {
		once.Do(func() {
			go func() {
				result, err := joex.Exec(docspellMark, docspellMail)
				if err != nil {
					t.Error(err)
				}
				n, _ := result.RowsAffected()
				marked <- n
			}()
			storetest.Eventually(f, "joex waits for the row", func() bool {
				return f.one("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'UPDATE periodic_task SET worker = ''joex1''%'") == "1"
			})
		})
		return nil
	}}
	s, seen := f.start(h)
	seen.until(t, "job", submitted(docspellMail))
	f.stop(s)
	if n := <-marked; n != 0 {
		t.Errorf("joex has marked %d tasks whose tick nextrun has submitted", n)
	}
	f.want(1, "SELECT count(*) FROM job WHERE tracker = ? AND due = ?", docspellMail, utc(due))
	result, err := joex.Exec(docspellMark, docspellMail)
	f.done(err)
	if n, _ := result.RowsAffected(); n != 1 {
		t.Error("joex cannot mark the task that falls due later")
	}
}

// docspellUpdate is the statement with which Docspell stores a task that exists.
const docspellUpdate = `UPDATE periodic_task SET enabled = ?, group_ = 'family', args = ?, subject = 'Scan mailbox',
	submitter = 'dad', priority = 10, worker = NULL, marked = NULL, timer = ?, nextrun = ? WHERE id = '` + docspellMail + `'`

// The jobs are such as Docspell's executors take.
func TestDocspellTakesTheJobs(t *testing.T) {
	t.Parallel()
	f := newDocspellFixture(t)
	f.once()
	f.want(0, "SELECT count(*) FROM job WHERE tracker = '2Fz9-disabled'")
	f.want(2, `SELECT count(*) FROM job AS j JOIN periodic_task AS t ON t.id = j.tracker
		WHERE j.state = 'waiting' AND j.priority = t.priority AND j.priority IN (0, 10) AND j.args = t.args AND j.task = t.task
			AND j.group_ = t.group_ AND j.subject = t.subject AND j.submitter = t.submitter AND j.retries = 0 AND j.progress = 0
			AND j.worker IS NULL AND j.started IS NULL AND j.startedmillis IS NULL AND j.finished IS NULL
			AND j.submitted BETWEEN ? AND ?`, f.at(-time.Minute), f.at(time.Second))
	// The times that Docspell wrote are the ticks that it meant.
	f.want(1, "SELECT count(*) FROM job WHERE tracker = ? AND due = '2026-03-01 00:00:00'", docspellTask)
	f.want(1, "SELECT count(*) FROM job WHERE tracker = ? AND due = '2026-02-25 12:00:00'", docspellMail)
	f.want(1, "SELECT count(*) FROM periodic_task WHERE id = ? AND extract(hour FROM due)::int % 2 = 0 AND extract(minute FROM due) = 0 AND due > ?",
		docspellMail, f.at(0))

	// Docspell's executor takes them, without a heartbeat, and nextrun waits for it.
	f.exec("UPDATE job SET state = 'scheduled', worker = 'joex1' WHERE state = 'waiting' AND tracker = ?", docspellMail)
	f.exec("UPDATE job SET state = 'running', started = ?, startedmillis = 1 WHERE state = 'scheduled'", f.at(0))
	due := f.due(docspellMail, time.Second)
	f.once()
	f.want("skipped", "SELECT decision FROM periodic_tick WHERE due = ?", utc(due))
	f.exec("UPDATE job SET state = 'success', finished = ? WHERE state = 'running'", f.at(0))
	due = f.due(docspellMail, time.Second)
	f.once()
	f.want("submitted", "SELECT decision FROM periodic_tick WHERE due = ?", utc(due))
	f.guarantees()
}

// An edit of Docspell wins over a batch in flight, and its next time counts.
func TestDocspellEdits(t *testing.T) {
	t.Parallel()
	f := newDocspellFixture(t)
	f.once()
	f.exec("DELETE FROM job WHERE tracker = ?", docspellMail)

	f.due(docspellMail, time.Second)
	f.between(func() { f.exec(docspellUpdate, true, `{"edited":1}`, "*-*-* *:30:00", "2090-01-01 10:30:00") })
	f.once()
	f.want(0, "SELECT count(*) FROM job WHERE tracker = ?", docspellMail)
	f.want(1, "SELECT count(*) FROM periodic_task WHERE id = ? AND due IS NULL AND nextrun = '2090-01-01 10:30:00'", docspellMail)

	at := f.at(0)
	f.exec(docspellUpdate, true, `{"edited":2}`, "*-*-* *:30:00", at)
	f.once()
	f.want(`{"edited":2}`, "SELECT args FROM job WHERE tracker = ? AND due = ?", docspellMail, at)
	f.want(1, "SELECT count(*) FROM periodic_task WHERE id = ? AND extract(minute FROM due) = 30 AND nextrun = due", docspellMail)

	// Stored once more as it is, while its batch is in flight: the mark is lost, the tick is not.
	f.exec("UPDATE job SET state = 'success'")
	due := f.due(docspellMail, time.Second)
	f.between(func() { f.exec(docspellUpdate, true, `{"edited":2}`, "*"+utc(due)[4:], utc(due)) })
	f.once()
	f.want(1, "SELECT count(*) FROM job WHERE tracker = ? AND due = ?", docspellMail, utc(due))

	f.exec("UPDATE job SET state = 'success'")
	f.due(docspellMail, time.Second)
	f.exec(docspellUpdate, false, `{}`, "*-*-* *:30:00", f.at(0))
	f.once()
	f.want(2, "SELECT count(*) FROM job WHERE tracker = ?", docspellMail)
	f.guarantees()
}

// The statement of the documentation turns the times of another zone into UTC.
func TestDocspellConvert(t *testing.T) {
	t.Parallel()
	f := newDocspellFixture(t)
	text, err := os.ReadFile("../../docs/docspell.md")
	f.done(err)
	_, rest, found := strings.Cut(string(text), "<!-- convert -->\n")
	statement, _, ended := strings.Cut(rest, ";")
	if !found || !ended {
		t.Fatal("docs/docspell.md has no statement marked convert")
	}
	f.exec("UPDATE periodic_task SET nextrun = '2026-07-01 14:00:00' WHERE id = ?", docspellMail) // 12:00 UTC
	f.exec("UPDATE periodic_task SET nextrun = '2026-03-01 01:00:00' WHERE id = ?", docspellTask) // 00:00 UTC
	f.exec(statement)
	f.want("2026-07-01 12:00:00", "SELECT nextrun::text FROM periodic_task WHERE id = ?", docspellMail)
	f.want("2026-03-01 00:00:00", "SELECT nextrun::text FROM periodic_task WHERE id = ?", docspellTask)
}

// Docspell's own schedulers that answer live, and the message about them says what to do.
func TestDocspellAlive(t *testing.T) {
	t.Parallel()
	f := newDocspellFixture(t)
	live := func(want string) {
		t.Helper()
		err := docspell.In(f.db).RefuseLive(t.Context())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), ": "+want+". It") || !strings.Contains(err.Error(), "DELETE FROM node")) {
			t.Errorf("RefuseLive = %v, want %q", err, want)
		}
	}
	live("")
	f.exec(`INSERT INTO node (id, type, url, updated, created, not_found) SELECT n, CASE n WHEN 'rest1' THEN 'restserver' ELSE 'joex' END, 'http://' || n || ':7878',
		'2026-01-01', '2026-01-01', CASE n WHEN 'joex2' THEN 2 ELSE 0 END FROM (VALUES ('rest1'), ('joex1'), ('joex2')) AS v (n)`) // joex2 did not answer
	live("joex1 (http://joex1:7878)")
	f.exec("ALTER TABLE node DROP COLUMN not_found") // an older Docspell
	live("joex1 (http://joex1:7878), joex2 (http://joex2:7878)")
	f.exec("DROP TABLE node")
	live("")
	f.exec("CREATE TABLE node (id integer, parent integer)") // something else
	live("")
}

// Whatever the name of a scheduler or an executor, Docspell can read what they write:
// its type Ident takes letters, digits, -, _, . and @ only, and Docspell ends its
// loops over anything else.
func TestDocspellReadsNames(t *testing.T) {
	t.Parallel()
	f := newDocspellFixture(t)
	const name = "vm:1 \u00e4@home"
	done := make(chan struct{})
	log := slog.New(slog.DiscardHandler)
	e, err := executor.New(f.db.Jobs(), executor.Config{Name: name, Logger: log})
	f.done(err)
	e.Register("scan-mailbox", func(context.Context, *jobqueue.JobContext) error {
		close(done)
		return nil
	})
	f.once(as(name, scheduler.ModeLeader))
	f.done(e.Start(t.Context()))
	<-done
	f.done(e.Stop(context.Background()))
	list := strings.Split(f.One(`SELECT string_agg(name, '|') FROM (
		SELECT worker AS name FROM periodic_tick UNION SELECT worker FROM job UNION SELECT workerid FROM jobgroupuse
		UNION SELECT holder FROM scheduler_lock UNION SELECT jid FROM job) AS names WHERE name IS NOT NULL`), "|")
	if len(list) < 6 {
		t.Errorf("only these names were written: %q", list)
	}
	for _, name := range list {
		if !regexp.MustCompile(`^[A-Za-z0-9_.@-]+$`).MatchString(name) {
			t.Errorf("Docspell cannot read %q", name)
		}
	}
	f.want(1, "SELECT count(*) FROM job WHERE worker LIKE 'vm-1---home@%' AND state = 'success' AND task = 'scan-mailbox'")
}
