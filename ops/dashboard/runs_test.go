package dashboard_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

type runData struct {
	Runs []struct {
		JID, Task, State, Note string
		Times                  int
	}
	States []struct {
		Value string
		N     int
	}
	More bool
}

func (d *runData) list() (list []string) {
	for _, k := range d.Runs {
		list = append(list, k.Task+" "+k.State)
	}
	return list
}

// The page of a run that is an event says so, not that a queue has a job.
func TestRunOfAnEvent(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, sink, nextrun) VALUES ('told', 'work', 'hourly', 'event', '2026-01-01 08:00:00')`)
		s.Schedule()
		s.shows("/run?id=told", "There is no log: the run is an event, not a job.", "in all", "!another queue has", "!Elsewhere")
	})
}

// hours adds ticks of each hour, the newest first: success, missed, and skipped since a job ran.
func (s *site) hours(id, newest string, now time.Time) {
	s.task(id)
	for i, what := range newest {
		due := now.Truncate(time.Hour).Add(-time.Duration(i+1) * time.Hour)
		if what == '.' {
			s.ran(id, due, time.Second, "success")
			continue
		}
		decision := map[rune][]string{'m': {"missed", "newest"}, 's': {"skipped", "overlap"}}[what]
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided, cause) VALUES (?, ?, ?, ?, ?)`, id, sqldb.Timestamp(due), decision[0], sqldb.Timestamp(due), decision[1])
	}
}

// Which runs were left out last night is one page, of all tasks, by state, group, task and time.
func TestRunsThatDidNotHappen(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		now := time.Now().UTC()
		s.hours("pay", ".m..s", now)
		s.hours("mail", "..s...", now)
		s.Exec(`UPDATE periodic_task SET group_ = 'night' WHERE id = 'mail'`)
		ago := func(hours int) sqldb.Timestamp { return sqldb.Timestamp(now.Add(-time.Duration(hours) * time.Hour)) }
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided, missed, until, cause) VALUES ('pay', ?, 'missed', ?, 11, ?, 'newest')`, ago(30), ago(20), ago(20))
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided, reason) VALUES ('mail', ?, 'skipped', ?, 'long ago')`, ago(60), ago(60))
		for path, want := range map[string]string{
			"&state=not-run&last=24+hours":           "[pay missed mail skipped pay skipped pay missed]", // what was missed together lasts until 20 hours ago
			"&state=not-run&group=night&last=hour":   "[]",
			"&state=not-run&task=pay":                "[pay missed pay skipped pay missed]",
			"&state=not-run&last=7+days&task=mail":   "[mail skipped mail skipped]",
			"&last=24+hours&task=mail":               "[mail success mail success mail skipped mail success mail success mail success]",
			"&state=success&last=24+hours&task=mail": "[mail success mail success mail success mail success mail success]",
			"&state=failed":                          "[]",
		} {
			var d runData
			if s.data("/runs?format=json"+path, &d); fmt.Sprint(d.list()) != want {
				s.Errorf("%q: %s, want %s", path, d.list(), want)
			}
		}
		s.shows("/runs?state=not-run&last=7+days", "Did not run", "11 ticks", "not decided in time", "a job of the task had not ended", "!state good")
		s.shows("/runs?state=failed", "No run is like that.")
		s.shows("/runs?group=it's&from=2026-01-01T00:00&to=2026-01-02T00:00", "Since Thu 1 Jan, 00:00:00 until Fri 2 Jan, 00:00:00.", "Of the group it's.")
	})
}

// A job whose worker is silent says so, and a long list has pages.
func TestRunsArePaged(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.task("bad", "worse")
		now := time.Now().Truncate(time.Second)
		for i := range 90 {
			s.ran("worse", now.Add(-time.Duration(i+1)*time.Minute), time.Second, []string{"failed", "success"}[i%2])
			if i < 20 {
				s.ran("bad", now.Add(-time.Duration(i+1)*time.Minute), time.Second, "failed")
			}
		}
		s.Exec("INSERT INTO job (jid, task, state, worker, submitted, started) VALUES ('lost', 'work', 'running', 'vm@x', ?, ?)", sqldb.Timestamp(now), sqldb.Timestamp(now))
		s.Exec("INSERT INTO worker (id, kind, version, started, seen) VALUES ('vm@x', 'executor', 'v', ?, ?)", sqldb.Timestamp(now), sqldb.Timestamp(now.Add(-3*time.Minute)))
		s.shows("/runs?state=running", "no sign of life for 3 min", `href="/run?job=lost"`, "Running 1")
		seen, d := map[string]bool{}, runData{}
		for _, page := range []string{"1", "2"} {
			s.data("/runs?format=json&page="+page, &d)
			for _, j := range d.Runs {
				seen[j.JID] = true
			}
			if d.More != (page == "1") {
				s.Errorf("page %s says that there are more: %v", page, d.More)
			}
		}
		if len(seen) != 111 {
			s.Errorf("two pages have %d of 111 runs", len(seen))
		}
		s.shows("/runs", `href="/runs?page=2">older`, "!← newer")
		s.shows("/runs?page=2", `href="/runs?page=1">← newer`, "!older →")
		s.shows("/runs?state=failed", `<a href="/runs?state=failed&amp;task=worse">worse</a>`, "On this page: worse 45 · bad 20")
		s.shows("/runs?state=failed&task=bad", "!On this page", "!older →", `href="/runs?state=failed&amp;task=bad" aria-current="true"`)
	})
}

// Jobs of other queues count on Now and on the page of the system, as far as nextrun knows of them.
func TestJobsOfOtherQueuesAreCounted(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.task("a", "b")
		s.Exec(`UPDATE periodic_task SET sink = CASE WHEN id = 'a' THEN 'river' ELSE 'legacy' END`)
		for i, hours := range []int{3, 2, 1} {
			at := sqldb.Timestamp(time.Now().Add(-time.Duration(hours) * time.Hour))
			s.Exec(`INSERT INTO periodic_open (task_id, due, sink, ref, jid, submitted, look) VALUES ('a', ?, 'river', ?, ?, ?, ?)`, at, fmt.Sprint(i), fmt.Sprint(i), at, at)
		}
		s.shows("/", "3 open in other queues", `href="/system#others"`)
		s.shows("/system", "river 1 3 ", "3 h ago", "legacy 1 it does not tell how jobs end")
	})
}

// The page of a run tells what became of it in order of time, with links to the runs beside it. It shows no secret that a job wrote.
func TestPageOfARun(t *testing.T) {
	both(t, dashboard.Options{Prefix: "/p"}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('report', 'work', 'hourly', '2026-03-28 23:00:00')`)
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, reason, decided) VALUES ('report', '2026-03-28 22:00:00.000000', 'skipped', 'its last job still runs', '2026-03-28 22:00:00')`)
		s.history(1, func(_ context.Context, job *jobqueue.JobContext) error {
			job.Logf(jobqueue.Info, `{"password": "geheim"}`)
			return nil
		})
		s.shows("/run?id=report&at=2026-03-28T22:20&zone=UTC", "No tick was due at", "(20 min earlier), was skipped: its last job still runs.",
			`class="note off"`, "decided", `rel="next"`, `title="2026-03-28 22:20:00 UTC"`, `title="2026-03-28 22:00:00 UTC"`)
		s.shows("/run?id=report&at=2026-03-28T23:00:00Z&zone=Europe/Berlin", "succeeded", "attempt 1", `rel="prev"`, "attempt 1 begins on", "Handler work", "!geheim")
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, cause, decided) VALUES ('report', '2026-03-29 00:00:00.000000', 'skipped', 'overlap', '2026-03-29 00:00:00')`)
		s.shows("/run?id=report&zone=Europe/Berlin", "was skipped: a job of the task had not ended, that of the tick of", `title="2026-03-29 00:00:00 CET"`, "!No tick was due")
		s.shows("/run?id=report&at=2026-03-28T23:00:00%2B01:00&zone=Europe/Berlin", `The tick of <time datetime="2026-03-28T22:00:00Z" title="2026-03-28 23:00:00 CET">`, `!rel="prev"`) // before the clock changed
	})
}

// A job has the page of its run. One of no task, too, has a page, which says what it waits for and what can be done.
func TestPageOfAJob(t *testing.T) {
	one(t, dashboard.Options{Authorize: may}, func(s *site) {
		s.task("report")
		now := time.Now().UTC().Truncate(time.Hour)
		for i := range 4 {
			s.ran("report", now.Add(-time.Duration(i+1)*time.Hour), []time.Duration{4 * time.Minute, time.Minute, time.Minute, time.Minute}[i], "success")
		}
		s.shows("/run?job=report"+now.Add(-time.Hour).Format(time.RFC3339), "It took 4 min, 4.0 × the usual.", "the task", "Run again", `!value="cancel"`)
		s.Exec(`INSERT INTO job (jid, task, submitted) VALUES ('alone', 'work', ?)`, sqldb.Timestamp(now))
		s.shows("/run?job=alone", "A job of no run", "waiting", `value="cancel"`, `!value="retry"`)
		s.post("/run", map[string][]string{"id": {"alone"}, "action": {"cancel"}}, "/run?done=Cancelled%2C+or+asked+to+stop%3A+1+job.&job=alone")
		s.shows("/run?job=alone", "cancelled", `value="retry"`, `!value="cancel"`)
		s.post("/run", map[string][]string{"id": {"alone"}, "action": {"retry"}}, "/run?done=Waits+again%3A+1+job.&job=alone")
		s.Want("waiting", `SELECT state FROM job WHERE jid = 'alone'`)
		s.shows("/", "0 running, 1 waiting", "!the oldest for") // it waits since it was put back
	})
}

// Somebody asks for a run by a time in words, in the zone of the page: on the page of a run, and in the field that jumps.
func TestTimesInWords(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.task("report", "report-weekly")
		zone, err := time.LoadLocation("Asia/Tokyo")
		if err != nil {
			s.Fatal(err)
		}
		now := time.Now().In(zone)
		day := time.Date(now.Year(), now.Month(), now.Day()-1, 0, 0, 0, 0, zone)
		s.ran("report", day.Add(-2*time.Hour), time.Second, "success")
		s.ran("report", day.Add(2*time.Hour), time.Second, "failed")
		s.ran("report", day.Add(14*time.Hour), time.Second, "success")
		clock := func(hour int) string { return show.Clock(day.Add(time.Duration(hour)*time.Hour), now, zone) }
		for _, at := range []string{"yesterday", "yesterday+02:00", day.Weekday().String() + "+02:00"} {
			may, day := "", "!"
			if at == "yesterday" { // which of its runs may run again?
				may, day = "!", ""
			}
			s.shows("/run?zone=Asia/Tokyo&id=report&at="+at, "The tick of "+clock(2)+" ran and failed", may+"You can only read here. In a terminal: nextrun job retry", day+"the first of that day")
		}
		s.shows("/run?zone=Asia/Tokyo&id=report&at=yesterday+02:30", "No tick was due at", "!nextrun job retry")
		s.shows("/task?id=report", `name="at" placeholder="yesterday 14:00, Tuesday"`)
		for q, want := range map[string]string{
			"report yesterday": "[{runs of report, DAY runs}]", "report " + now.AddDate(0, 0, -2).Format("2006-01-02"): "[{report, ten run}]",
			"weekly yesterday": "[{report-weekly, none run}]", "weekly": "[{report-weekly task}]", "nobody 14:00": "[]",
			"report yesterday 14:00": "[{report, noon run}]",
		} {
			var places []struct{ Name, Kind string }
			s.data("/jump?format=json&zone=Asia/Tokyo&q="+url.QueryEscape(q), &places)
			want = strings.NewReplacer("DAY", day.Format("Mon 2 Jan 2006"), "ten", clock(-2), "none", clock(0), "noon", clock(14)).Replace(want)
			if got := fmt.Sprint(places); got != want {
				s.Errorf("%q: %s, want %s", q, got, want)
			}
		}
	})
}

// Without a script a name that several tasks have leads to these tasks. Of several runs one chooses.
func TestJumpToOneOfSeveral(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.task("report", "report-daily", "report-weekly")
		s.shows("/jump?zone=UTC&q=report-+2026-01-01", "Which one? run report-daily, Thu 1 Jan, 00:00:00 run report-weekly, Thu 1 Jan, 00:00:00")
		for q, want := range map[string]string{"report-": "/tasks?q=report-", "nobody": "/tasks?q=nobody", "report": "/task?id=report", "report-daily 2026-01-01": "/run?at=2026-01-01T00%3A00%3A00Z&id=report-daily"} {
			_, header, _ := s.ask(s.request(http.MethodGet, "/jump?zone=UTC&q="+url.QueryEscape(q), nil))
			if to := header.Get("Location"); to != want {
				s.Errorf("%q leads to %s, want %s", q, to, want)
			}
		}
	})
}

// Those who may act try all runs again that failed, or some of them.
func TestRetryOfManyRuns(t *testing.T) {
	both(t, dashboard.Options{Authorize: may}, func(s *site) {
		s.task("report")
		now := time.Now().UTC().Truncate(time.Hour)
		var ids []string
		for i := range 3 {
			s.ran("report", now.Add(-time.Duration(i)*time.Hour), time.Second, "failed")
			ids = append(ids, "report"+now.Add(-time.Duration(i)*time.Hour).Format(time.RFC3339))
		}
		s.shows("/runs?state=failed", `value="`+ids[0]+`"`, `aria-label="Select all runs of this page"`, `value="retry"`, `!value="cancel"`)
		s.shows("/runs", `!type="checkbox"`)
		s.post("/run", url.Values{"id": append(ids[:2:2], "nobody"), "action": {"retry"}, "back": {"/runs?state=failed"}}, "/runs?done=Waits+again%3A+2+jobs.+Not+done%3A+nobody")
		s.Want(2, `SELECT count(*) FROM job WHERE state = 'waiting'`)
	})
}
