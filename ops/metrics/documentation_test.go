package metrics_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/page"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/ops/metrics"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/periodic/sink"
)

func read(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// everything scrapes a database and services of which each metric has something to say.
func (f *fixture) everything() string {
	f.Helper()
	f.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('report', 'work', 'yearly')`)
	f.schedule()
	f.due("report")
	f.schedule()
	f.Exec(`INSERT INTO periodic_task (id, task, sink, timer) VALUES ('event', 'happened', 'event', 'yearly')`)
	f.schedule()
	f.due("event")
	f.schedule()
	f.Exec(`INSERT INTO periodic_task (id, task, timer, created, nextrun) VALUES ('overdue', 'work', 'yearly', '2026-01-01 00:00:00', '2026-01-01 00:00:00')`)
	f.Exec(`UPDATE periodic_task SET since = '2026-01-01 00:00:00' WHERE id = 'overdue'`)
	f.Exec(`UPDATE periodic_task SET paused = CURRENT_TIMESTAMP, paused_by = 'nextrun' WHERE id = 'event'`)
	task := periodic.NewTask("report", "work", "yearly")
	for _, e := range []scheduler.Event{
		{Kind: scheduler.EventTick, Task: &task, Tick: periodic.Tick{TaskID: "report", Decision: periodic.Missed, Missed: 3}},
		{Kind: scheduler.EventError, Doing: "claim"}, {Kind: scheduler.EventProblem, Task: &task},
		{Kind: scheduler.EventEnded, Sink: "river", Tick: periodic.Tick{Ended: sink.EndFailed}},
		{Kind: scheduler.EventCleared, Count: 1}, {Kind: scheduler.EventLeading, Lock: leader.Lock{Name: "nextrun", Token: 7}},
	} {
		f.m.Scheduler(e)
	}
	for _, kind := range []executor.EventKind{executor.EventBegun, executor.EventEnded, executor.EventLost, executor.EventInterrupted, executor.EventTrouble} {
		f.m.Executor(executor.Event{Kind: kind, State: jobqueue.Success, Job: jobqueue.Job{JID: "j", Task: "work", Started: task.Created}})
	}
	f.m.Executor(executor.Event{Kind: executor.EventBegun, Job: jobqueue.Job{JID: "k", Task: "work", Started: periodic.Never}})
	for _, kind := range []relay.NoticeKind{relay.NoticePublished, relay.NoticeFailed, relay.NoticeDead, relay.NoticeTrouble} {
		f.m.Relay(relay.Notice{Kind: kind, Topic: "orders", Doing: "claim"})
	}
	return f.scrape()
}

var (
	helpLine   = regexp.MustCompile(`(?m)^# HELP (nextrun_\S+) .+\n# TYPE \S+ (\w+)$`)
	metricName = regexp.MustCompile(`\bnextrun_[a-z_0-9]+`)
)

// listed is what was scraped as the reference lists it: metrics with their labels, by type. The types are also by name.
func listed(scraped string) (list string, types map[string]string) {
	of := map[string][]string{}
	types = map[string]string{}
	for _, found := range helpLine.FindAllStringSubmatch(scraped, -1) {
		name, kind := found[1], found[2]
		types[name] = kind
		labels := map[string]bool{}
		if series := regexp.MustCompile(`(?m)^` + name + `(?:_bucket)?\{(.*)\} `).FindStringSubmatch(scraped); series != nil {
			for _, label := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(series[1], -1) {
				labels[label[1]] = label[1] != "le"
			}
		}
		maps.DeleteFunc(labels, func(_ string, own bool) bool { return !own })
		if len(labels) > 0 {
			name += "{" + strings.Join(slices.Sorted(maps.Keys(labels)), ",") + "}"
		}
		of[kind] = append(of[kind], "`"+name+"`")
	}
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		list += strings.ToUpper(kind[:1]) + kind[1:] + "s: " + strings.Join(of[kind], ",\n") + "\n\n"
	}
	return list, types
}

// The reference has every metric, as it is. Alerts and dashboards ask for no others.
func TestReferenceOfMetrics(t *testing.T) {
	process := metrics.Options{Healthy: func() bool { return true }, LogLost: func() int64 { return 2 }}
	both(t, process, func(f *fixture) {
		list, types := listed(f.everything())
		page.Part(f, "../../docs/reference.md", "metrics", list)

		files, err := filepath.Glob("../../dist/[gp]r*/*.*") // grafana and prometheus
		if err != nil || len(files) < 4 {
			f.Fatalf("found %d files for Grafana and Prometheus: %v", len(files), err)
		}
		for _, file := range files {
			for _, asked := range metricName.FindAllString(read(f, file), -1) {
				base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(asked, "")
				if types[asked] == "" && types[base] != "histogram" {
					f.Errorf("%s asks for %s, which does not exist", file, asked)
				}
			}
		}
	})
}
