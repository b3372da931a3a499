package main_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/scripts/shop/month"
)

// config is the configuration file of the shop.
const config = "nextrun.yaml"

// days is how long the shop of the tests has been open; `make shop` makes a whole month.
const days = 4

// commands only read. An exit code of 3 means findings, which some of the databases have.
var commands = [][]string{
	{"task", "list"}, {"task", "list", "--state", "problem"}, {"task", "list", "--state", "attention"}, {"task", "list", "--state", "failed"},
	{"task", "list", "--state", "retrying"}, {"task", "list", "--state", "overdue"}, {"tick", "list"}, {"job", "list"}, {"job", "limit"}, {"preview", "--hours", "24"},
	{"check"}, {"event", "list"}, {"lock", "show"}, {"migrate", "status"},
	{"task", "export"}, {"check", "--guarantees"},
}

// pages are those of the dashboard.
var pages = []string{"/", "/tasks", "/jobs", "/timeline", "/scheduler", "/events"}

// A month of a shop: what commands and pages say is what the month was made of.
func TestMonth(t *testing.T) {
	onBoth(t, func(p place) {
		end := time.Now().UTC()
		tally, err := month.Make(p.Context(), month.Options{URL: p.url, Config: config, Days: days})
		if err != nil {
			p.Fatal(err)
		}
		for _, args := range commands {
			p.says(args...)
		}
		if said := p.says("check"); !strings.Contains(said, "the task ended at 2026-01-31 00:00:00 UTC") {
			p.Errorf("check says\n%s", said)
		}
		p.countsTicks(tally)
		p.countsJobs(tally)
		p.namesTasks(tally)
		p.looks("/task?id=order-export", "/task?id=feed-typo", "/task?id=legacy-feed", "/task?id=event-hourly", "/task?id=report-once")
		p.verifies(end)
	})
}

// verifies finds nothing wrong, but for what has fallen due since the end of the month: no scheduler runs any more.
func (p place) verifies(end time.Time) {
	p.Helper()
	var report struct {
		Checks   []string
		Findings []struct {
			Check string
			Rows  []struct{ About, Detail string }
		}
	}
	r := p.Shell.Run(p.Context(), "check", "--guarantees", "--json")
	clitest.Decode(p.T, r.Stdout, &report)
	if len(report.Checks) < 15 {
		p.Errorf("verify made %d checks", len(report.Checks))
	}
	for _, f := range report.Findings {
		before := f.Check != "overdue ticks"
		for _, row := range f.Rows {
			before = before || row.Detail < end.Format("since "+time.DateTime)
		}
		if before {
			p.Errorf("verify finds %+v\n%s", f, r.Stderr)
		}
	}
}

func (p place) countsTicks(tally *month.Tally) {
	p.Helper()
	var ticks []struct {
		Decision periodic.Decision
		Missed   int
	}
	p.JSON(p.T, &ticks, "tick", "list", "-n", "100000")
	found := map[periodic.Decision]int{}
	for _, k := range ticks {
		found[k.Decision] += max(k.Missed, 1)
	}
	for _, d := range []periodic.Decision{periodic.Submitted, periodic.Skipped, periodic.Late, periodic.Missed} {
		want := tally.Sum(d)
		if d != periodic.Late && want == 0 {
			p.Errorf("the month has no tick that was %s", d)
		}
		if found[d] != want {
			p.Errorf("ticks %s: %d, and the month had %d", d, found[d], want)
		}
	}
}

func (p place) countsJobs(tally *month.Tally) {
	p.Helper()
	for _, state := range []jobqueue.State{jobqueue.Success, jobqueue.Failed, jobqueue.Cancelled} {
		var jobs []struct{ State string }
		p.JSON(p.T, &jobs, "job", "list", "--state", string(state), "-n", "100000")
		if want := tally.Ends(state); want == 0 || len(jobs) < want || state != jobqueue.Cancelled && len(jobs) > want {
			p.Errorf("jobs %s: %d, and the month had %d", state, len(jobs), want)
		}
	}
}

// namesTasks reads what is said of each task.
func (p place) namesTasks(tally *month.Tally) {
	p.Helper()
	var tasks []struct {
		ID, Sink  string
		Enabled   bool
		LastState string `json:"last_state"`
	}
	p.JSON(p.T, &tasks, "task", "list")
	if len(tasks) < 40 {
		p.Errorf("only %d tasks are listed", len(tasks))
	}
	want := map[string]string{
		"feed-typo": "Fri", "feed-partner": "the partner has not paid", "legacy-sync": "disabled", "season-sale": "ended", "season-next": "starts",
		"report-once": "never", "legacy-prices": "state submitted", "legacy-feed": "still waiting",
	}
	for _, task := range tasks {
		why := p.says("why", task.ID)
		p.says("task", "show", task.ID)
		count := tally.Of(task.ID)
		if count.Last == jobqueue.Failed && !strings.Contains(why, "FATAL: connection to shop-db refused") {
			p.Errorf("why %s does not say how its last job failed:\n%s", task.ID, why)
		}
		if count.Last == jobqueue.Success && strings.Contains(why, "Its last run failed") {
			p.Errorf("why %s speaks of a failure that was not the last run's:\n%s", task.ID, why)
		}
		if !strings.Contains(strings.Join(strings.Fields(why), " "), want[task.ID]) {
			p.Errorf("why %s lacks %q:\n%s", task.ID, want[task.ID], why)
		}
	}
}

// Somebody has just run migrate up.
func TestEmpty(t *testing.T) {
	onBoth(t, func(p place) {
		p.Must(p.T, "migrate", "up")
		for _, args := range commands {
			if args[0] != "check" && args[0] != "queue" { // the queue's table is not there
				p.says(args...)
			}
		}
		p.looks()
		p.Exec(p.T, "DELETE FROM periodic_task")
		p.says("task", "list")
		p.looks()
	})
}

// Five thousand tasks, of which seven fail.
func TestCrowd(t *testing.T) {
	onBoth(t, func(p place) {
		p.Must(p.T, "migrate", "up")
		var rows []string
		for n := range 5000 {
			rows = append(rows, fmt.Sprintf("('t%04d', 'work', '*-*-* %02d:%02d')", n, n%24, n%60))
		}
		p.Exec(p.T, "INSERT INTO periodic_task (id, task, timer) VALUES "+strings.Join(rows, ", "))
		p.Must(p.T, "scheduler", "--once")
		for n := range 7 {
			p.Exec(p.T, fmt.Sprintf(`INSERT INTO job (jid, task, tracker, state, result, submitted, started, finished) VALUES
				('j%d', 'work', 't%04d', 'failed', 'no such host', '2026-01-01 00:00:00', '2026-01-01 00:00:00', '2026-01-01 00:00:01')`, n, 4990+n))
			p.Exec(p.T, fmt.Sprintf(`INSERT INTO periodic_tick (task_id, due, decision, jid, decided) VALUES
				('t%04d', '2026-01-01 00:00:00', 'submitted', 'j%d', '2026-01-01 00:00:00')`, 4990+n, n))
		}
		for _, args := range [][]string{{"task", "list"}, {"tick", "list"}, {"job", "list"}, {"check"}, {"why", "t4993"}, {"task", "show", "t4993"}} {
			if args[0] != "check" { // as above
				p.says(args...)
			}
		}
		p.looks("/task?id=t4993")
	})
}

// The table of the other queue is gone, a column of it too, and rows are not what they were.
func TestHalfBroken(t *testing.T) {
	onBoth(t, func(p place) {
		p.Must(p.T, "migrate", "up")
		p.Exec(p.T, "CREATE TABLE legacy_job (id varchar(254) PRIMARY KEY, args text)") // `done` is missing
		p.Exec(p.T, `INSERT INTO periodic_task (id, task, timer, sink) VALUES ('feed', 'feed', 'hourly', 'legacy'), ('odd', 'odd', 'Fry', 'job'),
			('nobody', 'nobody', 'hourly', 'nosuch')`)
		p.Exec(p.T, `INSERT INTO job (jid, task, tracker, state) VALUES ('lost', 'gone', 'gone', 'waiting')`)
		for _, args := range [][]string{{"task", "list"}, {"tick", "list"}, {"job", "list"}, {"why", "odd"}, {"why", "nobody"}, {"preview"}} {
			p.says(args...)
		}
		if said := p.says("check"); !strings.Contains(said, "done") {
			p.Errorf("check does not name the column that is missing:\n%s", said)
		}
		p.Exec(p.T, `UPDATE periodic_task SET nextrun = '2026-01-01 00:00:00' WHERE id = 'feed'`)
		p.Shell.Run(p.Context(), "scheduler", "--once")
		if said := p.says("why", "feed"); !strings.Contains(said, "done") {
			p.Errorf("why does not name the column that is missing:\n%s", said)
		}
		p.looks("/task?id=feed", "/task?id=odd", "/task?id=nobody")
	})
}
