package verify_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/ops/verify"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// What followed another plan is no violation of the plan in force.
func TestEditsAreNoViolations(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		f := newFixture(t, d)
		f.Exec(`UPDATE periodic_task SET timer = '*:0/1'`)
		f.Exec(`UPDATE periodic_task SET due = ?, nextrun = ?`, sqldb.Timestamp(f.due), sqldb.Timestamp(f.due))
		if r := f.verify(verify.Options{}); len(r.Findings) > 0 || r.Tasks != 1 {
			t.Errorf("%d tasks:\n%s", r.Tasks, text(r))
		}
		if f.One(`SELECT count(*) FROM periodic_task WHERE since > ?`, f.before()) != "1" {
			t.Error("the edit was not noted")
		}
	})
}

// Old rows are deleted by their age, each kind at its own, and ticks that were missed may
// be submitted later.
func TestHousekeepingAndBackfillsAreNoViolations(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		f := newFixture(t, d)
		f.Exec(`UPDATE periodic_tick SET decision = 'missed', missed = 3, until = ?, jid = NULL WHERE due = ?`, f.at(4), f.at(2))
		f.Exec(`DELETE FROM periodic_tick WHERE due = ? OR due = ?`, f.at(3), f.at(4))
		f.Exec(`DELETE FROM job WHERE due >= ? AND due <= ?`, f.at(2), f.at(4))
		err := periodic.NewTasks(d.Store.Tasks()).Backfill(t.Context(), "report", periodic.Backfill{From: f.at(3).Time(), To: f.at(4).Time()})
		if err != nil {
			t.Fatal(err)
		}
		keep := scheduler.Retention{Ticks: time.Since(f.at(1).Time()) - time.Minute}
		if n, err := d.Store.Periodic().Prune(t.Context(), keep); n.Ticks != 2 || err != nil {
			t.Fatalf("%d ticks deleted, %v", n.Ticks, err)
		}
		if r := f.verify(verify.Options{}); len(r.Findings) > 0 || r.Ticks != 3 {
			t.Errorf("%d ticks:\n%s", r.Ticks, text(r))
		}
	})
}

// The ends of jobs in other queues are recorded late.
func TestJobsElsewhereAreNoViolations(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		f := newFixture(t, d)
		f.elsewhere()
		if r := f.verify(verify.Options{}); len(r.Findings) > 0 || r.Ticks != hours {
			t.Errorf("%d ticks:\n%s", r.Ticks, text(r))
		}
	})
}

// A hook that submits a task gives it a tick that its timer need not have.
func TestTicksBesideTheTimerAreNoViolations(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		f := newFixture(t, d)
		tasks := periodic.NewTasks(d.Store.Tasks())
		for _, later := range []time.Duration{7 * time.Minute, 11 * time.Minute} {
			if err := tasks.SubmitNext(t.Context(), "report", f.at(1).Time().Add(later), "after another task"); err != nil {
				t.Fatal(err)
			}
			f.Exec(`UPDATE job SET state = 'success' WHERE state = 'waiting'`)
		}
		if r := f.verify(verify.Options{}); len(r.Findings) > 0 || r.Ticks != hours+2 {
			t.Errorf("%d ticks:\n%s", r.Ticks, text(r))
		}
	})
}

// Of old events those stay that somebody has not read yet.
func TestGapsBetweenOldEventsAreNoViolations(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		f := newFixture(t, d)
		f.Exec(`INSERT INTO event_aggregate (id, version) VALUES ('order', 6)`)
		for _, e := range []struct{ version, hours int }{{2, 90}, {4, 80}, {5, 2}, {6, 1}} {
			f.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, created) VALUES (?, 't', 'x', 'order', ?, ?)`,
				strconv.Itoa(e.version), e.version, sqldb.Timestamp(f.now.Add(-time.Duration(e.hours)*time.Hour)))
		}
		if r := f.verify(verify.Options{}); len(r.Findings) > 0 {
			t.Errorf("older events may have been deleted: %s", text(r))
		}
		f.Exec(`UPDATE event_store SET aggregate_version = 7 WHERE aggregate_version = 6`)
		if r := f.verify(verify.Options{}); !strings.Contains(text(r), "versions 5 to 7") {
			t.Errorf("nothing deletes events of today: %s", text(r))
		}
	})
}
