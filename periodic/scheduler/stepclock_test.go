package scheduler_test

import (
	"os"
	"strings"
	"testing"
	"time"
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
