package scheduler_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// On PostgreSQL due is judged by clock_timestamp(), whatever the host's clock
// says: here it is decades behind, as the clock of a synctest bubble is. The
// difference is measured, exported and logged once.
func TestG10DatabaseClockDecides(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec(insertTask, "due", "yearly")
	f.exec(insertTask, "later", "yearly")
	f.exec("UPDATE periodic_task SET nextrun = clock_timestamp() AT TIME ZONE 'UTC' + CASE id WHEN 'due' THEN interval '-1 second' ELSE interval '1 hour' END")
	var lines bytes.Buffer
	var skews []time.Duration
	synctest.Test(t, func(t *testing.T) {
		db, err := store.Open(t.Context(), f.URL, store.Options{PollOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		log := logrus.New()
		log.SetOutput(&lines)
		s, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "behind", Logger: log, Observe: func(e scheduler.Event) {
			if e.Kind == scheduler.EventClock {
				skews = append(skews, e.Skew)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		if skew := db.ClockSkew(); skew < 20*365*24*time.Hour {
			t.Errorf("ClockSkew is %s; the clock here says %s", skew, time.Now())
		}
	})
	f.want(1, "SELECT count(*) FROM job WHERE tracker = 'due' AND submitted BETWEEN ? AND ?", f.at(-time.Minute), f.at(0))
	f.want(0, "SELECT count(*) FROM job WHERE tracker = 'later'")
	f.want(1, "SELECT count(*) FROM periodic_tick WHERE decided BETWEEN ? AND ?", f.at(-time.Minute), f.at(0))
	if len(skews) != 1 || skews[0] < 20*365*24*time.Hour {
		t.Errorf("the difference was told as %v", skews)
	}
	if n := strings.Count(lines.String(), "the database's clock differs"); n != 1 {
		t.Errorf("%d log lines tell it:\n%s", n, lines.String())
	}
}

// On SQLite it is the host's clock, passed as a parameter: in a bubble the
// fake one.
func TestG10HostClockOnSQLite(t *testing.T) {
	bubble(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		f.exec("UPDATE periodic_task SET nextrun = '2000-01-01 01:00:00'")
		told := 0
		stop := f.run(unwatched{f.db.Periodic()}, func(c *scheduler.Config) {
			c.Observe = func(e scheduler.Event) {
				if e.Kind == scheduler.EventClock {
					told++
				}
			}
		})
		pass(time.Until(time.Date(2000, 1, 1, 0, 59, 59, 0, time.UTC)))
		f.want(0, "SELECT count(*) FROM job")
		pass(2 * time.Second)
		f.want(1, "SELECT count(*) FROM job WHERE due = '2000-01-01 01:00:00.000000'")
		stop()
		if skew := f.db.ClockSkew(); skew.Abs() > time.Second || told > 0 {
			f.Errorf("ClockSkew is %s, told %d times", skew, told)
		}
	})
}
