package metrics_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/leader"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/metrics"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
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
	f.Exec(`UPDATE periodic_task SET failures = 3, paused = CURRENT_TIMESTAMP, paused_by = 'nextrun' WHERE id = 'event'`)
	task := periodic.NewTask("report", "work", "yearly")
	for _, e := range []scheduler.Event{
		{Kind: scheduler.EventTick, Task: &task, Tick: periodic.Tick{TaskID: "report", Decision: periodic.Missed, Missed: 3}},
		{Kind: scheduler.EventError, Doing: "claim"}, {Kind: scheduler.EventProblem, Task: &task}, {Kind: scheduler.EventLocked},
		{Kind: scheduler.EventEnded, Sink: "river", Tick: periodic.Tick{Ended: periodic.EndFailed}},
		{Kind: scheduler.EventCleared, Count: 1}, {Kind: scheduler.EventLeading, Lock: leader.Lock{Name: "nextrun", Token: 7}},
	} {
		f.m.Scheduler(e)
	}
	for _, kind := range []executor.EventKind{executor.EventBegun, executor.EventEnded, executor.EventLost, executor.EventInterrupted, executor.EventTrouble} {
		f.m.Executor(executor.Event{Kind: kind, State: jobqueue.Success, Job: jobqueue.Job{JID: "j", Task: "work", Started: task.Created}})
	}
	f.m.Executor(executor.Event{Kind: executor.EventBegun, Job: jobqueue.Job{JID: "k", Task: "work", Started: periodic.Never}})
	for _, kind := range []outbox.NoticeKind{outbox.NoticePublished, outbox.NoticeFailed, outbox.NoticeDead, outbox.NoticeTrouble} {
		f.m.Relay(outbox.Notice{Kind: kind, Topic: "orders", Doing: "claim"})
	}
	return f.scrape()
}

var (
	helpLine   = regexp.MustCompile(`(?m)^# HELP (nextrun_\S+) (.*)$`)
	metricName = regexp.MustCompile(`\bnextrun_[a-z_0-9]+`)
)

// metricLines are the lines that the reference must have of what was scraped.
func metricLines(scraped string) (lines []string) {
	for _, found := range helpLine.FindAllStringSubmatch(scraped, -1) {
		name, help := found[1], found[2]
		kind := regexp.MustCompile(`(?m)^# TYPE ` + name + ` (\w+)$`).FindStringSubmatch(scraped)[1]
		var labels []string
		series := regexp.MustCompile(`(?m)^` + name + `(?:_bucket)?\{(.*)\} `).FindStringSubmatch(scraped)
		if series != nil {
			for _, label := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(series[1], -1) {
				if label[1] != "le" {
					labels = append(labels, "`"+label[1]+"`")
				}
			}
		}
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprintf("| %#q | %s | %s | %s |", name, kind, strings.Join(labels, ", "), help)), " "))
	}
	slices.Sort(lines)
	return lines
}

// The reference has every metric, as it is. Alerts and dashboards ask for no others.
func TestReferenceOfMetrics(t *testing.T) {
	both(t, metrics.Options{}, func(f *fixture) {
		want := metricLines(f.everything())
		_, section, _ := strings.Cut(read(f, "../../docs/reference.md"), "\n## Metrics\n")
		section, _, _ = strings.Cut(section, "\n## ")
		var have []string
		for line := range strings.Lines(section) {
			if strings.HasPrefix(line, "| `") {
				have = append(have, strings.Join(strings.Fields(line), " "))
			}
		}
		if !slices.Equal(have, want) {
			f.Errorf("the section Metrics of docs/reference.md must have these lines, and no others:\n%s", strings.Join(want, "\n"))
		}

		files, err := filepath.Glob("../../dist/[gp]r*/*.*") // grafana and prometheus
		if err != nil || len(files) < 4 {
			f.Fatalf("found %d files for Grafana and Prometheus: %v", len(files), err)
		}
		for _, file := range files {
			for _, asked := range metricName.FindAllString(read(f, file), -1) {
				base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(asked, "")
				if !slices.ContainsFunc(want, func(line string) bool {
					return strings.HasPrefix(line, "| `"+asked+"`") || strings.HasPrefix(line, "| `"+base+"` | histogram")
				}) {
					f.Errorf("%s asks for %s, which does not exist", file, asked)
				}
			}
		}
	})
}
