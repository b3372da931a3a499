package metrics_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/ops/metrics"
)

// tickRow is a tick at a number of minutes before now, and its job if it has a state.
type tickRow struct {
	due, until int // minutes ago; until is 0 if the row has none
	decision   string
	cause      string
	state      string // of the job
	took       int    // minutes from the decision to the end of the job
}

// stale are tasks, and what periodic_stale says of them: nothing, or expected (minutes
// ago), judged_by, decision, and state or cause.
var stale = []struct {
	id, columns string // id, and SQL that sets columns; the timer never elapses meanwhile
	due         int    // minutes ago; 0: in an hour
	ticks       []tickRow
	want        string
}{
	{"good", "", 0, []tickRow{{120, 0, "submitted", "", "success", 1}}, ""},
	{"new", "", 0, nil, ""},
	{"failed", "", 0, []tickRow{{120, 0, "submitted", "", "failed", 1}}, "120 job submitted failed"},
	{"never-begun", "", 0, []tickRow{{120, 0, "submitted", "", "waiting", 0}}, "120 job submitted waiting"},
	{"failed-since", "", 0, []tickRow{{120, 0, "submitted", "", "failed", 1}, {180, 0, "submitted", "", "success", 1}}, "120 job submitted failed"},
	{"retried", "", 0, []tickRow{{60, 0, "submitted", "", "success", 1}, {120, 0, "submitted", "", "failed", 1}}, ""},
	{"nobody-knows", "", 0, []tickRow{{120, 0, "submitted", "", "", 0}}, ""},
	{"untaken", "timer = 'minutely'", 120, []tickRow{{180, 0, "submitted", "", "success", 1}}, "120 job  "},
	{"untaken-slow", "timer = 'minutely'", 120, []tickRow{{121, 0, "submitted", "", "success", 15}}, "120 job  "},
	{"a-moment-late", "timer = 'minutely'", 1, []tickRow{{20, 0, "submitted", "", "success", 5}}, ""},
	{"skipped", "", 0, []tickRow{{120, 0, "skipped", "overlap", "", 0}}, "120 job skipped overlap"},
	{"skipped-by-pause", "", 0, []tickRow{{120, 0, "skipped", "paused", "", 0}, {180, 0, "submitted", "", "success", 1}}, ""},
	{"missed", "", 0, []tickRow{{180, 60, "missed", "newest", "", 0}}, "60 job missed newest"},
	{"missed-and-caught-up", "", 0, []tickRow{{90, 0, "submitted", "", "success", 1}, {180, 100, "missed", "", "", 0}}, ""},
	{"slow", "", 0, []tickRow{{50, 0, "submitted", "", "running", 0}, {240, 0, "submitted", "", "success", 60}}, ""},
	{"too-slow", "", 0, []tickRow{{150, 0, "submitted", "", "running", 0}, {240, 0, "submitted", "", "success", 60}}, "150 job submitted running"},
	{"jitter", "jitter = 10800", 0, []tickRow{{120, 0, "submitted", "", "failed", 1}}, ""},
	{"longest-jitter", "jitter = 2147483647", 0, []tickRow{{120, 0, "submitted", "", "failed", 1}}, ""},
	{"paused", "paused = CURRENT_TIMESTAMP", 0, []tickRow{{120, 0, "submitted", "", "failed", 1}}, ""},
	{"paused-before", "paused = '2020-01-01 00:00:00', paused_until = '2020-01-02 00:00:00'", 0, []tickRow{{120, 0, "submitted", "", "failed", 1}}, "120 job submitted failed"},
	{"disabled", "enabled = false", 0, []tickRow{{120, 0, "submitted", "", "failed", 1}}, ""},
	{"event", "sink = 'event'", 0, []tickRow{{120, 0, "submitted", "", "", 0}}, ""},
	{"late-event", "sink = 'event'", 0, []tickRow{{120, 0, "late", "", "", 0}, {180, 0, "submitted", "", "", 0}}, "120 submission late "},
	{"foreign", "sink = 'river'", 0, []tickRow{{120, 0, "submitted", "", "", 0}}, ""},
	{"missed-foreign", "sink = 'river'", 0, []tickRow{{120, 0, "missed", "", "", 0}}, "120 submission missed "},
}

// Those without Prometheus see by periodic_stale what others see by the alert.
func TestStaleTasksInTheViewAndTheMetrics(t *testing.T) {
	both(t, metrics.Options{}, func(f *fixture) {
		now := time.Now().UTC().Truncate(time.Second)
		ago := func(minutes int) string {
			return now.Add(-time.Duration(minutes) * time.Minute).Format("2006-01-02 15:04:05.000000")
		}
		f.Exec("DELETE FROM periodic_task")
		for _, s := range stale {
			f.Exec("INSERT INTO periodic_task (id, task, timer, created) VALUES (?, 'x', '2099-01-01', '2020-01-01 00:00:00.000000')", s.id)
			if s.columns != "" {
				f.Exec("UPDATE periodic_task SET "+s.columns+" WHERE id = ?", s.id)
			}
			due := ago(s.due)
			if s.due == 0 {
				due = ago(-60)
			}
			f.Exec("UPDATE periodic_task SET due = ?, nextrun = ? WHERE id = ?", due, due, s.id)
			for i, k := range s.ticks {
				var until any
				if k.until > 0 {
					until = ago(k.until)
				}
				jid := s.id + strconv.Itoa(i)
				f.Exec("INSERT INTO periodic_tick (task_id, due, until, decision, cause, decided, jid) VALUES (?, ?, ?, ?, ?, ?, ?)",
					s.id, ago(k.due), until, k.decision, k.cause, ago(k.due), jid)
				if k.state != "" {
					f.Exec("INSERT INTO job (jid, task, tracker, state, finished) VALUES (?, 'x', ?, ?, ?)", jid, s.id, k.state, ago(k.due-k.took))
				}
			}
		}
		series := staleSeries(f.scrape())
		for _, s := range stale {
			got := f.One(`SELECT coalesce(max(CAST(expected AS varchar(19)) || ' ' || judged_by || ' ' || coalesce(decision, '') || ' ' ||
				coalesce(state, cause, '')), '') FROM periodic_stale WHERE id = ?`, s.id)
			want := s.want
			if minutes, rest, has := strings.Cut(want, " "); has {
				n, _ := strconv.Atoi(minutes)
				want = ago(n)[:19] + " " + rest
			}
			if f.Kind == "sqlite" { // it casts no text to a length
				got = regexp.MustCompile(`\.\d{6} `).ReplaceAllString(got, " ")
			}
			if got != want {
				f.Errorf("periodic_stale says of %s %q, want %q", s.id, got, want)
			}
			if alert := slices.Contains(series, s.id); alert != (s.want != "") {
				f.Errorf("the alert for %s: %v", s.id, alert)
			}
		}
		f.Want(ago(179), "SELECT substr(CAST(last_success AS varchar(26)) || '.000000', 1, 26) FROM periodic_stale WHERE id = 'failed-since'")
		f.Want("", "SELECT coalesce(CAST(last_success AS varchar(26)), '') FROM periodic_stale WHERE id = 'failed'")
	})
}

// staleSeries are the tasks for which the alert's expression holds.
func staleSeries(scraped string) (ids []string) {
	for _, found := range regexp.MustCompile(`(?m)^nextrun_task_stale_since_timestamp_seconds\{task="(.*)"\}`).FindAllStringSubmatch(scraped, -1) {
		ids = append(ids, found[1])
	}
	return ids
}

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
