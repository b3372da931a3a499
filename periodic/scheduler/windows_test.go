package scheduler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// A window holds all tasks, or those of a group, whether they name it or not. What is due in it is skipped, or runs once
// when the last window that overlaps ends.
func TestWindowHoldsTasks(t *testing.T) {
	bubble(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_calendar (name, timer, length, scope, at_end, reason, since) VALUES ('deploy', '2000-01-01 01:00', 7200, 'all', 'once', 'v2', '1999-01-01 00:00:00')")
		f.exec("INSERT INTO periodic_calendar (name, timer, length, scope, since) VALUES ('later', '2000-01-01 02:30', 3600, 'all', '1999-01-01 00:00:00')")
		f.exec("INSERT INTO periodic_calendar (name, timer, length, scope, reason, since) VALUES ('a', '2000-01-01 05:00', 3600, 'group:g', 'quiet', '1999-01-01 00:00:00')")
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('half', 'x', '*:00/30', 'allow')")
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('odd', 'x', '0..6:05', 'allow')")
		f.exec("INSERT INTO periodic_task (id, task, timer, group_, overlap) VALUES ('group', 'x', '4..6:05', 'g', 'allow')")
		f.exec("INSERT INTO periodic_task (id, task, timer, ends) VALUES ('last', 'x', '1:10', '2000-01-02')")
		stop := f.run(unwatched{f.db.Periodic()}, rarely)
		sleepUntil(midnight.Add(6*time.Hour + 10*time.Minute))
		stop()
		const line = "substr(due, 12, 5) || ' ' || decision || coalesce(' of ' || substr(nominal, 12, 5), '')"
		for id, want := range map[string]string{
			"half":  "01:00 skipped, 01:30 skipped, 02:00 skipped, 02:30 skipped, 03:00 skipped, 03:30 submitted",
			"odd":   "00:05 submitted, 01:05 skipped, 02:05 skipped, 03:05 skipped, 03:30 submitted of 02:05",
			"group": "04:05 submitted, 05:05 skipped, 06:05 submitted",
			"last":  "01:10 skipped, 03:30 submitted of 01:10",
		} {
			got := f.one("SELECT group_concat(line, ', ') FROM (SELECT "+line+" AS line FROM periodic_tick WHERE task_id = ? ORDER BY due)", id)
			if got = strings.TrimPrefix(got, "00:30 submitted, "); !strings.HasPrefix(got, want) {
				f.Errorf("%s: %s, want %s", id, got, want)
			}
		}
		f.want("window deploy: v2; it counts once with the tick of 2000-01-01 03:30:00 UTC", "SELECT reason FROM periodic_tick WHERE task_id = 'odd' AND due LIKE '%02:05:%'")
		f.want("window deploy: v2; moved from 2000-01-01 02:05:00 UTC", "SELECT reason FROM periodic_tick WHERE task_id = 'odd' AND due LIKE '%03:30:%'")
		f.want("window later", "SELECT reason FROM periodic_tick WHERE task_id = 'odd' AND due LIKE '%03:05:%'")
		f.want("window a: quiet", "SELECT reason FROM periodic_tick WHERE task_id = 'group' AND due LIKE '%05:05:%'")
		f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id = 'last' AND due > '2000-01-01 03:30:00.000000'")
		f.guarantees()
	})
}

// A window that is added takes effect at once, on what is prepared, too, and one that is removed lets tasks go on.
func TestWindowTakesEffectAtOnce(t *testing.T) {
	both(t, func(f *fixture) {
		for i := range 50 {
			f.exec("INSERT INTO periodic_task (id, task, timer) VALUES (?, 'x', 'yearly')", fmt.Sprint("t", i))
		}
		cfg := f.config("one")
		cfg.Lead = 2 * time.Second
		claimed := make(chan []periodic.Task, 1000)
		s, err := scheduler.New(claims{f.db.Periodic(), claimed}, cfg)
		if err != nil {
			f.Fatal(err)
		}
		if err := s.Start(context.Background()); err != nil {
			f.Fatal(err)
		}
		f.Cleanup(func() { f.stop(s) })
		due := time.Now().UTC().Add(4 * time.Second)
		f.exec("UPDATE periodic_task SET timer = ? WHERE timer = 'yearly'", "*-*-* "+due.Format("15:04:05.000000"))
		f.becomes(50, "SELECT count(*) FROM periodic_task WHERE due > ?", f.at(0))
		for prepared := 0; prepared < 50; {
			prepared += len(<-claimed)
		}
		f.exec("INSERT INTO periodic_calendar (name, timer, length, scope, reason) VALUES ('w', ?, 3600, 'all', 'sudden')", f.at(-time.Minute)[:19])
		f.becomes(50, "SELECT count(*) FROM periodic_tick WHERE decision = 'skipped' AND reason = 'window w: sudden'")
		f.want(0, "SELECT count(*) FROM job")
		f.exec("DELETE FROM periodic_calendar")
		f.exec("UPDATE periodic_task SET timer = '*:*:*'")
		f.becomes(50, "SELECT count(DISTINCT tracker) FROM job")
	})
}

// A run that waits for the end of a window is neither lost nor doubled by an edit of its task, by a longer window, or by one that is
// added when the tick has run.
func TestWindowCountsOnce(t *testing.T) {
	bubble(t, func(f *fixture) {
		const window = "INSERT INTO periodic_calendar (name, timer, length, scope, at_end, since) VALUES ('w', '2000-01-01 01:00', 3600, 'all', 'once', ?)"
		f.exec(window, "2000-01-01 01:08:00")
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('ran', 'x', '01:05', 'allow')")
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('held', 'x', '01:10', 'allow')")
		stop := f.run(unwatched{f.db.Periodic()}, rarely)
		sleepUntil(midnight.Add(90 * time.Minute))
		f.exec("UPDATE periodic_task SET priority = 1, nextrun = '1970-01-01 00:00:00'")
		f.exec("UPDATE periodic_calendar SET length = 7200")
		sleepUntil(midnight.Add(4 * time.Hour))
		stop()
		f.want("01:05 submitted", "SELECT group_concat(substr(due, 12, 5) || ' ' || decision) FROM periodic_tick WHERE task_id = 'ran'")
		f.want("03:00", "SELECT group_concat(substr(due, 12, 5)) FROM periodic_tick WHERE task_id = 'held' AND decision = 'submitted'")
		f.want(0, "SELECT count(*) FROM periodic_task WHERE due < '2000-01-02'")
		f.guarantees()
	})
}
