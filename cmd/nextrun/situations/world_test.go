package situations_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/store"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(executorURL); url != "" {
		executeUntilKilled(url)
		return
	}
	migrated.VerifyTestMain(m)
}

// situation is something that people meet, set up for real, and what nextrun says of it.
// The task is t, with the handler backup, unless set changes it.
type situation struct {
	name  string
	only  string // the kind of database on which it exists; empty: both
	set   func(w *world)
	codes []string // of the findings of `nextrun why t`, in order
	says  []string // what its text has
	not   []string // what neither it nor `nextrun job show` says
	// Of the row, and of its newest tick; empty: nothing may stand there.
	problem, cause string
	alerts         []string // that fire if the metrics stay as they are
	job            string   // what `nextrun job show` says of the task's newest job; empty: it is not asked
}

// All situations, beside each other.
func TestSituations(t *testing.T) {
	t.Parallel()
	var all alarms
	t.Run("of", func(t *testing.T) {
		for _, list := range [][]situation{ofRows, ofTicks, ofEvents, ofHooks, ofLocks, ofPlans, ofJobs, ofAttempts, ofEnds} {
			for _, s := range list {
				t.Run(s.name, func(t *testing.T) { t.Parallel(); s.run(t, &all) })
			}
		}
	})
	all.compare(t)
}

// run sets a situation up on each kind of database, and compares.
func (s *situation) run(t *testing.T, all *alarms) {
	storetest.Kinds(t, func(t *testing.T, kind string) {
		if s.only != "" && s.only != kind {
			return
		}
		d := migrated.New(t, kind)
		w := &world{T: t, d: d, sh: clitest.Shell{Env: map[string]string{"NEXTRUN_DB": d.URL, "NEXTRUN_NAME": "test"}}}
		w.sql("INSERT INTO periodic_task (id, task, timer) VALUES ('t', 'backup', 'yearly')")
		w.planned(time.Hour)
		s.set(w)
		w.record()
		text := w.sh.Must(t, "why", "t")
		show := ""
		if s.job != "" {
			show = words(w.sh.Must(t, "job", "show", "--last", "t"))
			wantText(t, show, s.job)
		}
		for _, want := range s.says {
			wantText(t, words(text), want)
		}
		for _, false_ := range s.not {
			if strings.Contains(words(text)+show, false_) {
				t.Errorf("it says %q, which is false:\n%s\n%s", false_, text, show)
			}
		}
		var report status
		clitest.Decode(t, w.sh.Must(t, "why", "t", "--json"), &report)
		codes := []string{}
		for _, f := range report.Findings {
			codes = append(codes, f.Code)
		}
		s.recorded(t, d)
		db, err := store.Open(t.Context(), d.URL, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		all.expect(t, db, s.alerts)
		w.agree(db, report)
		if !slices.Equal(codes, append([]string{}, s.codes...)) {
			t.Errorf("the codes are %q, want %q:\n%s", codes, s.codes, text)
		}
	})
}

// status is what a command or a page says of the task.
type status struct {
	ID, State string
	Attention *string
	Next      time.Time
	Findings  []struct{ Code string }
}

// agree compares what lists, pages, metrics and views say of the task. What the view periodic_stale names needs attention.
func (w *world) agree(db *store.DB, why status) {
	w.Helper()
	page := onThePage(w.T, db, w.queues(db))
	if !slices.Equal(page.Findings, why.Findings) || page.State != why.State || (page.Attention == nil) != (why.Attention == nil) {
		w.Errorf("the page of the task shows %+v, and why %+v", page, why)
	}
	var list, needing []status
	clitest.Decode(w.T, w.sh.Must(w.T, "task", "list", "--json"), &list)
	clitest.Decode(w.T, w.sh.Must(w.T, "task", "list", "--state", "attention", "--json"), &needing)
	if list[0].State != why.State || (list[0].Attention == nil) != (why.Attention == nil) || (len(needing) == 1) != (why.Attention != nil) {
		w.Errorf("the list of tasks has %+v, that of those that need attention %+v, and why says %+v", list, needing, why)
	}
	if stale := w.d.One("SELECT count(*) FROM periodic_stale"); stale != "0" && why.Attention == nil {
		w.Errorf("the task is in periodic_stale, and needs no attention")
	}
}

// record adds the ticks of jobs that were added without.
func (w *world) record() {
	if w.d.One("SELECT count(*) FROM job WHERE tracker = 't'") != "0" {
		w.sql(`INSERT INTO periodic_tick (task_id, due, decision, jid, decided) SELECT 't', coalesce(due, submitted), 'submitted', jid, submitted
			FROM job WHERE tracker = 't' AND jid NOT IN (SELECT k.jid FROM periodic_tick AS k WHERE k.jid IS NOT NULL)`)
	}
}

// recorded compares what the tables say by themselves.
func (s *situation) recorded(t *testing.T, d *migrated.Database) {
	for what, want := range map[string]string{
		"coalesce(problem, '') FROM periodic_task WHERE id = 't'":                                       s.problem,
		"coalesce((SELECT cause FROM periodic_tick WHERE task_id = 't' ORDER BY due DESC LIMIT 1), '')": s.cause,
	} {
		if said := words(d.One("SELECT " + what)); !strings.Contains(said, want) || (said == "") != (want == "") {
			t.Errorf("SELECT %s: got %q, want %q", what, said, want)
		}
	}
}

func wantText(t *testing.T, text, want string) {
	t.Helper()
	if !strings.Contains(text, want) {
		t.Errorf("it lacks %q:\n%s", want, text)
	}
}

// words is a text with its blanks and ends of lines reduced to one blank each, and without
// the seconds that a slow machine adds to minutes.
func words(text string) string {
	return seconds.ReplaceAllString(strings.Join(strings.Fields(text), " "), "$1")
}

var seconds = regexp.MustCompile(`([0-9] min) [0-9]+ s\b`)

// world is the database of a situation, and those who work on it.
type world struct {
	*testing.T
	d  *migrated.Database
	sh clitest.Shell

	other bool // the task's queue is one of another project
}

var relative = regexp.MustCompile(`\{[^{}]*\}`)

// sql runs statements in which {-1h} is the time an hour ago.
func (w *world) sql(statements ...string) {
	w.Helper()
	for _, statement := range statements {
		w.d.Exec(relative.ReplaceAllStringFunc(statement, func(text string) string {
			d, err := time.ParseDuration(strings.Trim(text, "{}"))
			if err != nil {
				return text
			}
			return "'" + time.Now().UTC().Add(d).Format("2006-01-02 15:04:05.000000") + "'"
		}))
	}
}

// planned plans the task, as a scheduler does. A yearly timer elapses at that time of the year.
func (w *world) planned(next time.Duration) {
	at := time.Now().UTC().Add(next).Format("2006-01-02 15:04:05.000000")
	w.sql(fmt.Sprintf("UPDATE periodic_task SET due = '%[1]s', nextrun = '%[1]s', timer = CASE WHEN timer = 'yearly' OR timer LIKE '*-__-__ %%.%%' THEN '*%s' ELSE timer END", at, at[4:]))
}

// tick adds a job of the task that has waited for a minute, as a scheduler does.
func (w *world) tick() {
	w.sql(`INSERT INTO job (jid, task, group_, tracker, single, submitted, due)
		SELECT '` + service.BootID() + `', task, group_, id, overlap <> 'allow', {-1m}, {-1m} FROM periodic_task WHERE id = 't'`)
}

// until waits for what a query says.
func (w *world) until(what, query string) {
	w.Helper()
	storetest.Eventually(w, what, func() bool { return w.d.One(query) != "0" })
}

// runs waits until an executor has begun as many jobs of a handler.
func (w *world) runs(handler string, jobs int) {
	w.Helper()
	w.until("jobs of "+handler+" run", fmt.Sprintf("SELECT count(*) / %d FROM job WHERE task = '%s' AND state = 'running'", jobs, handler))
}

// handler is one of an executor: its jobs run until the situation is over, unless they fail.
type handler struct {
	name   string
	fails  bool
	limits jobqueue.Limits
}

// executor starts one that has handlers, and waits until others know of it.
func (w *world) executor(name string, places int, groups []string, handlers ...handler) {
	w.Helper()
	e, err := newExecutor(w.d.Open(), executor.Config{Name: name, PoolSize: places, Groups: groups}, handlers...)
	if err == nil {
		err = e.Start(context.WithoutCancel(w.Context()))
	}
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = e.Stop(context.Background()) })
	w.published(name)
}

func (w *world) published(name string) {
	w.until(name+" publishes what it does", "SELECT count(*) FROM worker WHERE id LIKE '"+name+"@%'")
}

func newExecutor(db *store.DB, cfg executor.Config, handlers ...handler) (*executor.Executor, error) {
	log := slog.New(slog.DiscardHandler)
	cfg.Logger, cfg.ShutdownGrace = log, -1
	e, err := executor.New(db.Jobs(), cfg)
	for _, h := range handlers {
		if err == nil {
			e.Register(h.name, func(ctx context.Context, _ *jobqueue.JobContext) error {
				if h.fails {
					return fmt.Errorf("exit status 3")
				}
				<-ctx.Done()
				return ctx.Err()
			}, h.limits)
		}
	}
	return e, err
}

// executorURL is set for a process that is an executor with a handler backup.
const executorURL = "NEXTRUN_SITUATION_EXECUTOR"

func executeUntilKilled(url string) {
	db, err := store.Open(context.Background(), url, store.Options{})
	if err == nil {
		var e *executor.Executor
		if e, err = newExecutor(db, executor.Config{Name: "killed"}, handler{name: "backup"}); err == nil {
			err = e.Start(context.Background())
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// killedExecutor is a process that has run until now, and did what before its end.
func (w *world) killedExecutor(what func()) {
	w.Helper()
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), executorURL+"="+w.d.URL)
	stdin, err := process.StdinPipe()
	if err == nil {
		err = process.Start()
	}
	if err != nil {
		w.Fatal(err)
	}
	defer stdin.Close()
	w.published("killed")
	what()
	_ = process.Process.Kill()
	_ = process.Wait()
	w.sql("UPDATE worker SET seen = {-2m} WHERE id LIKE 'killed@%'")
}
