package metrics_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/ops/metrics"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

// fixture is a database whose services report to metrics.
type fixture struct {
	*migrated.Database
	m *metrics.Metrics
}

func both(t *testing.T, options metrics.Options, run func(f *fixture)) {
	t.Parallel()
	options.Cache = time.Nanosecond
	migrated.Both(t, func(_ *testing.T, d *migrated.Database) {
		f := &fixture{d, metrics.New(options)}
		f.m.Watch(d.Store)
		run(f)
	})
}

// scrape returns what Prometheus gets.
func (f *fixture) scrape() string {
	f.Helper()
	w := httptest.NewRecorder()
	f.m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != 200 {
		f.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// shows checks that lines are in what Prometheus gets.
func (f *fixture) shows(lines ...string) {
	f.Helper()
	got := "\n" + f.scrape()
	for _, line := range lines {
		if !strings.Contains(got, "\n"+line) {
			name, _, _ := strings.Cut(strings.ReplaceAll(line, "{", " "), " ")
			f.Errorf("no line %q\n%s", line, grep(got, name))
		}
	}
}

func grep(text, part string) string {
	var found []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}

// schedule lets a scheduler do what is due.
func (f *fixture) schedule() {
	f.Helper()
	f.Schedule(func(c *scheduler.Config) { c.Observe = f.m.Scheduler })
}

// work runs jobs until n have ended.
func (f *fixture) work(n int, handler jobqueue.Handler) {
	f.Helper()
	f.Work(n, "work", handler, func(c *executor.Config) { c.Observe = f.m.Executor })
}

// The ends of jobs elsewhere are counted by queue, and each end is there at 0 from its first tick on.
func TestEndsElsewhereAreCounted(t *testing.T) {
	both(t, metrics.Options{}, func(f *fixture) {
		task := periodic.NewTask("report", "work", "yearly")
		task.Sink = "river"
		f.m.Scheduler(scheduler.Event{Kind: scheduler.EventTick, Task: &task, Tick: periodic.Tick{TaskID: "report", Decision: periodic.Submitted}})
		f.shows(`nextrun_sink_jobs_total{outcome="failed",sink="river"} 0`)
		f.m.Scheduler(scheduler.Event{Kind: scheduler.EventEnded, Task: &task, Sink: "river", Tick: periodic.Tick{Ended: sink.EndFailed}})
		f.shows(`nextrun_sink_jobs_total{outcome="failed",sink="river"} 1`, `nextrun_sink_jobs_total{outcome="success",sink="river"} 0`)
	})
}

// due makes a task due.
func (f *fixture) due(id string) {
	f.Exec(`UPDATE periodic_task SET due = ?, nextrun = ? WHERE id = ?`, "2026-01-01 00:00:00.000000", "2026-01-01 00:00:00.000000", id)
	f.Exec(`UPDATE periodic_task SET since = ? WHERE id = ?`, "2026-01-01 00:00:00.000000", id)
}

func TestWhatARunShows(t *testing.T) {
	both(t, metrics.Options{Version: "v1", Revision: "abc"}, func(f *fixture) {
		f.Exec(`DELETE FROM periodic_task`)
		f.Exec(`INSERT INTO periodic_task (id, task, timer, enabled) VALUES
			('good', 'work', 'yearly', true), ('off', 'work', 'yearly', false), ('bad', 'work', 'nonsense', true)`)
		f.Exec(`UPDATE periodic_task SET paused = CURRENT_TIMESTAMP, paused_by = 'nextrun' WHERE id = 'bad'`)
		f.schedule()
		f.due("good")
		f.schedule()
		f.shows(`nextrun_queue_depth{group="default",state="waiting"} 1`)
		f.work(1, func(context.Context, *jobqueue.JobContext) error { return nil })
		f.shows(`nextrun_build_info{goversion="`+runtime.Version()+`",revision="abc",version="v1"} 1`,
			`nextrun_ticks_total{decision="missed",sink="event"} 0`, `nextrun_jobs_total{handler="work",outcome="failed"} 0`,
			`nextrun_database_up 1`,
			`nextrun_ticks_total{decision="submitted",sink="job"} 1`,
			`nextrun_task_ticks_total{decision="submitted",task="good"} 1`,
			`nextrun_tick_lateness_seconds_count{sink="job"} 1`,
			`nextrun_jobs_total{handler="work",outcome="success"} 1`,
			`nextrun_jobs_running{handler="work"} 0`,
			`nextrun_job_duration_seconds_count{handler="work",outcome="success"} 1`,
			`nextrun_job_wait_seconds_count{handler="work"} 1`,
			`nextrun_tasks{state="enabled"} 1`, `nextrun_tasks{state="disabled"} 1`, `nextrun_tasks{state="blocked"} 1`,
			`nextrun_task_info{group="default",handler="work",overlap="skip",sink="job",task="good",timer="yearly"} 1`,
			`nextrun_task_paused{task="bad"} 1`, `nextrun_task_paused{task="good"} 0`,
			`nextrun_task_problem{task="bad"} 1`, `nextrun_task_problem{task="good"} 0`,
			`nextrun_task_failures{task="good"} 0`,
			`nextrun_tasks_overdue 0`,
			`nextrun_task_series_dropped 0`)
		if got := f.scrape(); strings.Contains(got, `nextrun_task_last_success_timestamp_seconds{task="good"} 0`+"\n") ||
			!strings.Contains(got, `nextrun_task_last_success_timestamp_seconds{task="bad"} 0`+"\n") {
			f.Errorf("good has succeeded, bad never has:\n%s", grep(got, "last_success"))
		}
	})
}

// What has not happened yet has a counter of 0, so that its first time is an increase.
func TestCountersBeginAtZero(t *testing.T) {
	both(t, metrics.Options{}, func(f *fixture) {
		f.m.Relay(relay.Notice{Kind: relay.NoticePublished, Topic: "orders", Count: 2})
		f.m.Scheduler(scheduler.Event{Kind: scheduler.EventLeading, Lock: leader.Lock{Name: "main", Token: 7}})
		f.shows("nextrun_task_problems_total 0", "nextrun_marks_cleared_total 0", "nextrun_executor_errors_total 0",
			`nextrun_scheduler_errors_total{doing="schedule"} 0`, `nextrun_relay_errors_total{doing="claim topics"} 0`,
			`nextrun_ticks_total{decision="submitted",sink="job"} 0`, `nextrun_ticks_total{decision="late",sink="event"} 0`,
			`nextrun_events_published_total{topic="orders"} 2`, `nextrun_events_dead_total{topic="orders"} 0`, `nextrun_event_failures_total{topic="orders"} 0`,
			`nextrun_lock_changes_total{change="leading",lock="main"} 1`, `nextrun_lock_changes_total{change="lost",lock="main"} 0`)
	})
}

// Labels are bounded, and whatever a row holds does not end the process.
func TestTooManyAndHostileNames(t *testing.T) {
	both(t, metrics.Options{Tasks: 2}, func(f *fixture) {
		f.Exec(`DELETE FROM periodic_task`)
		f.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('b', 'x', 'yearly'), ('c', 'x', 'yearly'), ('d', 'x', 'yearly')`)
		f.shows(`nextrun_task_series_dropped 1`, `nextrun_task_problem{task="b"} 0`, `nextrun_task_problem{task="c"} 0`)
		bad := periodic.NewTask("\xff", "\xff", "yearly")
		bad.Sink = "\xff"
		for i := range 5 {
			id := fmt.Sprintf("\xff%d", i)
			f.m.Scheduler(scheduler.Event{Kind: scheduler.EventTick, Task: &bad, Tick: periodic.Tick{TaskID: id, Decision: periodic.Submitted}})
		}
		f.m.Executor(executor.Event{Kind: executor.EventBegun, Job: jobqueue.Job{JID: "1", Task: "\xff"}})
		f.m.Executor(executor.Event{Kind: executor.EventBegun, Job: jobqueue.Job{JID: "1", Task: "\xff"}})
		f.m.Executor(executor.Event{Kind: executor.EventLost, Job: jobqueue.Job{JID: "2", Task: "\xff"}})
		for _, topic := range []string{"one"} {
			f.m.Relay(relay.Notice{Kind: relay.NoticeFailed, Topic: topic})
			f.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, payload) VALUES (?, ?, 'x', ?, 1, '{}')`, topic, topic, topic)
			f.Exec(`INSERT INTO outbox_message (event_id, topic) VALUES (?, ?)`, topic, topic)
		}
		f.m.Relay(relay.Notice{Kind: relay.NoticePublished, Topic: "\xff", Count: 3})
		f.shows("nextrun_ticks_total{decision=\"submitted\",sink=\"\uFFFD\"} 5", "nextrun_jobs_running{handler=\"\uFFFD\"} 1",
			"nextrun_events_published_total{topic=\"\uFFFD\"} 3", `nextrun_event_failures_total{topic="one"} 1`,
			`nextrun_outbox_pending{topic="one"} 1`)
		if n := strings.Count(f.scrape(), "nextrun_task_ticks_total{"); n != 2 {
			f.Errorf("%d tasks have a counter, want 2", n)
		}
	})
}

// A group for each user gives no endless number of series.
func TestTooManyGroups(t *testing.T) {
	both(t, metrics.Options{}, func(f *fixture) {
		var jobs []jobqueue.Job
		for i := range 1010 {
			jobs = append(jobs, jobqueue.Job{Task: "x", Group: fmt.Sprintf("user-%04d", i)})
		}
		if _, err := jobqueue.NewQueue(f.Store.Jobs()).Submit(f.Context(), jobs...); err != nil {
			f.Fatal(err)
		}
		f.shows(`nextrun_queue_depth{group="user-0999",state="waiting"} 1`)
		if n := strings.Count(f.scrape(), "nextrun_queue_depth{"); n != 1000 {
			f.Errorf("%d series of groups, want 1000", n)
		}
	})
}

// While the database cannot be read, its figures are gone and the others stay.
func TestDatabaseIsAway(t *testing.T) {
	both(t, metrics.Options{}, func(f *fixture) {
		f.shows(`nextrun_database_up 1`)
		other, err := store.Open(f.Context(), f.URL, store.Options{})
		if err != nil {
			f.Fatal(err)
		}
		if err := other.Close(); err != nil {
			f.Fatal(err)
		}
		f.m.Watch(other)
		f.shows(`nextrun_database_up 0`, `nextrun_build_info`)
		if got := grep(f.scrape(), "nextrun_tasks"); got != "" {
			f.Errorf("figures of a database that cannot be read: %s", got)
		}
	})
}
