package scheduler_test

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/store"
)

func elapse(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the database has the real clock

// stepDatabaseClock prepares steps of the database's clock and returns the
// function that makes one. SQLite's clock is the host's, which steppedClock reads
// through a file. On PostgreSQL a function of the same name comes before the
// server's clock_timestamp in the search path, so that every statement of
// nextrun, unchanged, sees the step.
func (f *fixture) stepDatabaseClock(file string) func(step time.Duration) {
	f.Helper()
	if f.Kind == "sqlite" {
		return func(step time.Duration) { stepClock(f, file, step) }
	}
	f.exec(`CREATE SCHEMA stepped`)
	f.exec(`CREATE TABLE stepped.step (seconds double precision)`)
	f.exec(`INSERT INTO stepped.step VALUES (0)`)
	f.exec(`CREATE FUNCTION stepped.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN
		RETURN pg_catalog.clock_timestamp() + (SELECT seconds FROM stepped.step) * interval '1 second'; END $$`)
	f.exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = stepped, public, pg_catalog', current_database()); END $$`)
	return func(step time.Duration) { f.exec(`UPDATE stepped.step SET seconds = ?`, step.Seconds()) }
}

// steppedClock is the host's clock moved by the duration in a file.
func steppedClock(url, file string) func() time.Time {
	if strings.HasPrefix(url, "postgres") {
		return nil // which has a clock of its own
	}
	return func() time.Time {
		text, _ := os.ReadFile(file) // replaced as a whole; none: no step
		step, _ := time.ParseDuration(string(text))
		return time.Now().Add(step)
	}
}

// stepClock writes a file of steppedClock.
func stepClock(t testing.TB, file string, step time.Duration) {
	t.Helper()
	if err := os.WriteFile(file+".new", []byte(step.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

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
