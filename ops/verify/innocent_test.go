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

// innocent is what happens to a good database, and how many ticks it has afterwards: nothing is said of them.
var innocent = map[string]struct {
	happens func(f *fixture)
	ticks   int
}{
	"what followed another plan than the one in force": {func(f *fixture) {
		f.Exec(`UPDATE periodic_task SET timer = '*:0/1'`)
		f.Exec(`UPDATE periodic_task SET due = ?, nextrun = ?`, sqldb.Timestamp(f.due), sqldb.Timestamp(f.due))
	}, 0},
	"old rows are deleted by their age, each kind at its own, and missed ticks are submitted later": {func(f *fixture) {
		f.Exec(`UPDATE periodic_tick SET decision = 'missed', missed = 3, until = ?, jid = NULL WHERE due = ?`, f.at(4), f.at(2))
		f.Exec(`DELETE FROM periodic_tick WHERE due = ? OR due = ?`, f.at(3), f.at(4))
		f.Exec(`DELETE FROM job WHERE due >= ? AND due <= ?`, f.at(2), f.at(4))
		err := periodic.NewTasks(f.Store.Tasks()).Backfill(f.Context(), "report", periodic.Backfill{From: f.at(3).Time(), To: f.at(4).Time()})
		if err != nil {
			f.Fatal(err)
		}
		keep := scheduler.Retention{Ticks: time.Since(f.at(1).Time()) - time.Minute}
		if n, err := f.Store.Periodic().Prune(f.Context(), keep); n.Ticks != 2 || err != nil {
			f.Fatalf("%d ticks deleted, %v", n.Ticks, err)
		}
	}, 3},
	"the ends of jobs in other queues are recorded late": {(*fixture).elsewhere, hours},
	"a hook submits a task beside its timer": {func(f *fixture) {
		tasks := periodic.NewTasks(f.Store.Tasks())
		for _, later := range []time.Duration{7 * time.Minute, 11 * time.Minute} {
			if err := tasks.SubmitNext(f.Context(), "report", f.at(1).Time().Add(later), "after another task"); err != nil {
				f.Fatal(err)
			}
			f.Exec(`UPDATE job SET state = 'success' WHERE state = 'waiting'`)
		}
	}, hours + 2},
}

func TestInnocent(t *testing.T) {
	t.Parallel()
	for name, c := range innocent {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			migrated.Both(t, func(t *testing.T, d *migrated.Database) {
				f := newFixture(t, d)
				c.happens(f)
				if r := f.verify(verify.Options{}); len(r.Findings) > 0 || r.Tasks != 1 || r.Ticks != c.ticks {
					t.Errorf("%d tasks, %d ticks:\n%s", r.Tasks, r.Ticks, text(r))
				}
			})
		})
	}
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
