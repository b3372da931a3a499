package metrics_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

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
	helpLine   = regexp.MustCompile(`(?m)^# HELP (nextrun_\S+) .`)
	metricName = regexp.MustCompile(`\bnextrun_[a-z_0-9]+`)
)

// metricsOf are what was scraped: the type of each metric, with its labels, as the reference has them.
func metricsOf(scraped string) map[string]string {
	types := map[string]string{}
	for _, found := range helpLine.FindAllStringSubmatch(scraped, -1) {
		name := found[1]
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
		types[name] = regexp.MustCompile(`(?m)^# TYPE ` + found[1] + ` (\w+)$`).FindStringSubmatch(scraped)[1]
	}
	return types
}

// typeByName is the type that the reference derives from the name of a metric.
func typeByName(metric string) string {
	name, _, _ := strings.Cut(metric, "{")
	for _, suffix := range []string{"_duration_seconds", "_wait_seconds", "_lateness_seconds", "_batch_tasks"} {
		if strings.HasSuffix(name, suffix) {
			return "histogram"
		}
	}
	if strings.HasSuffix(name, "_total") {
		return "counter"
	}
	return "gauge"
}

// The reference has every metric, as it is. Alerts and dashboards ask for no others.
func TestReferenceOfMetrics(t *testing.T) {
	both(t, metrics.Options{}, func(f *fixture) {
		types := metricsOf(f.everything())
		want := slices.Sorted(maps.Keys(types))
		_, section, _ := strings.Cut(read(f, "../../docs/reference.md"), "\n## Metrics\n")
		section, _, _ = strings.Cut(section, "\n## ")
		_, section, _ = strings.Cut(section, "\n- ") // what is before the lists
		var have []string
		for _, found := range regexp.MustCompile("`(nextrun_[^`]*)`").FindAllStringSubmatch(section, -1) {
			have = append(have, found[1])
		}
		slices.Sort(have)
		if !slices.Equal(have, want) {
			f.Errorf("the section Metrics of docs/reference.md has\n%s\nwanted:\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
		}
		for metric, kind := range types {
			if typeByName(metric) != kind {
				f.Errorf("%s is a %s, which docs/reference.md must say", metric, kind)
			}
		}

		files, err := filepath.Glob("../../dist/[gp]r*/*.*") // grafana and prometheus
		if err != nil || len(files) < 4 {
			f.Fatalf("found %d files for Grafana and Prometheus: %v", len(files), err)
		}
		for _, file := range files {
			for _, asked := range metricName.FindAllString(read(f, file), -1) {
				base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(asked, "")
				if !slices.ContainsFunc(want, func(metric string) bool {
					name, _, _ := strings.Cut(metric, "{")
					return name == asked || name == base && types[metric] == "histogram"
				}) {
					f.Errorf("%s asks for %s, which does not exist", file, asked)
				}
			}
		}
	})
}
