package scheduler_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/store"
)

// On PostgreSQL due is judged by clock_timestamp(), whatever the host's clock
// says: here it is decades behind, as the clock of a synctest bubble is. The
// difference is measured.
func TestG10DatabaseClockDecides(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec(insertTask, "due", "yearly")
	f.exec(insertTask, "later", "yearly")
	f.exec("UPDATE periodic_task SET nextrun = clock_timestamp() AT TIME ZONE 'UTC' + CASE id WHEN 'due' THEN interval '-1 second' ELSE interval '1 hour' END")
	synctest.Test(t, func(t *testing.T) {
		db, err := store.Open(t.Context(), f.URL, store.Options{PollOnly: true})
		f.done(err)
		defer func() { _ = db.Close() }()
		f.onceOn(db.Periodic())
		if skew := db.ClockSkew(); skew < 20*365*24*time.Hour {
			t.Errorf("ClockSkew is %s; the clock here says %s", skew, time.Now())
		}
	})
	f.want(1, "SELECT count(*) FROM job WHERE tracker = 'due' AND submitted BETWEEN ? AND ?", f.at(-time.Minute), f.at(0))
	f.want(0, "SELECT count(*) FROM job WHERE tracker = 'later'")
	f.want(1, "SELECT count(*) FROM periodic_tick WHERE decided BETWEEN ? AND ?", f.at(-time.Minute), f.at(0))
}

// On SQLite it is the host's clock, passed as a parameter: in a bubble the
// fake one.
func TestG10HostClockOnSQLite(t *testing.T) {
	bubble(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		f.exec("UPDATE periodic_task SET nextrun = '2000-01-01 01:00:00'")
		s, _ := f.start(unwatched{f.db.Periodic()})
		pass(time.Until(time.Date(2000, 1, 1, 0, 59, 59, 0, time.UTC)))
		f.want(0, "SELECT count(*) FROM job")
		pass(2 * time.Second)
		f.want(1, "SELECT count(*) FROM job WHERE due = '2000-01-01 01:00:00.000000'")
		f.stop(s)
		if skew := f.db.ClockSkew(); skew.Abs() > time.Second {
			f.Errorf("ClockSkew is %s", skew)
		}
	})
}
