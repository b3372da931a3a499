package metrics_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/ops/metrics"
)

// frequent are tasks that run so often that their newest ticks are too young to be judged:
// what became of the tick so many seconds ago, as "decision state" and the seconds that its
// job took.
var frequent = []struct {
	id     string
	period int // seconds
	became func(ago int) (string, int)
	stale  bool
}{
	{"fails", 2, func(int) (string, int) { return "submitted failed", 0 }, true},
	{"succeeds", 2, func(int) (string, int) { return "submitted success", 0 }, false},
	{"succeeded long ago", 2, func(ago int) (string, int) {
		if ago == 240 {
			return "submitted success", 0
		}
		return "submitted failed", 0
	}, true},
	{"runs for minutes and skips ticks", 1, func(ago int) (string, int) { // the run of 150 s ago is not over
		switch {
		case ago == 150:
			return "submitted running", 0
		case ago%200 == 150:
			return "submitted success", 200
		}
		return "skipped", 0
	}, false},
}

// The alert for every timer holds for those that elapse every second, too.
func TestFrequentTasksBecomeStale(t *testing.T) {
	both(t, metrics.Options{}, func(f *fixture) {
		now := time.Now().UTC().Truncate(time.Second)
		at := func(seconds int) string {
			return now.Add(-time.Duration(seconds) * time.Second).Format("2006-01-02 15:04:05.000000")
		}
		f.Exec("DELETE FROM periodic_task")
		var want []string
		for _, s := range frequent {
			f.Exec("INSERT INTO periodic_task (id, task, timer, created) VALUES (?, 'x', '2099-01-01', '2020-01-01 00:00:00.000000')", s.id)
			f.Exec("UPDATE periodic_task SET due = ?, nextrun = ? WHERE id = ?", at(-60), at(-60), s.id)
			var ticks, jobs []string
			for ago := s.period; ago < 400; ago += s.period {
				became, took := s.became(ago)
				decision, state, runs := strings.Cut(became, " ")
				jid := fmt.Sprintf("%s-%d", s.id, ago)
				ticks = append(ticks, fmt.Sprintf("('%s', '%s', '%s', '%s', '%s')", s.id, at(ago), decision, at(ago), jid))
				if finished := "NULL"; runs {
					if state != "running" {
						finished = "'" + at(ago-took) + "'"
					}
					jobs = append(jobs, fmt.Sprintf("('%s', 'x', '%s', false, '%s', %s)", jid, s.id, state, finished))
				}
			}
			f.Exec("INSERT INTO job (jid, task, tracker, single, state, finished) VALUES " + strings.Join(jobs, ", "))
			f.Exec("INSERT INTO periodic_tick (task_id, due, decision, decided, jid) VALUES " + strings.Join(ticks, ", "))
			if s.stale {
				want = append(want, s.id)
			}
		}
		series := staleSeries(f.scrape())
		if slices.Sort(series); !slices.Equal(series, want) {
			f.Errorf("the alert is for %q, want %q", series, want)
		}
		for _, s := range frequent {
			stale := map[bool]string{true: "1", false: "0"}[s.stale]
			f.Want(stale, "SELECT count(*) FROM periodic_stale WHERE id = ?", s.id)
		}
		f.Want("0", "SELECT count(last_success) FROM periodic_stale WHERE id = 'fails'")
		f.Want("1", "SELECT count(last_success) FROM periodic_stale WHERE id = 'succeeded long ago'")
	})
}
