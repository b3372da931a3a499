package queues_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store/queues"
)

func TestKindsTakeABatch(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p preset) {
		f := p.fixture(t)
		q := f.queue(p.kind)
		jobs := f.tasks(1000)
		open := f.accept(q, jobs...)
		for _, i := range []int{0, 499, 999} {
			want := strings.NewReplacer("{n}", strconv.Itoa(i), "{jid}", jobs[i].JID).Replace(p.want)
			f.Want(want, "SELECT "+p.shown+" FROM "+p.table+" WHERE "+p.where, open[i].Ref)
		}
		if got := len(f.pending(q, open...)); got != 1000 {
			t.Errorf("%d of 1000 jobs are pending", got)
		}
	})
}

// River has added a column to its tables that nextrun does not need.
func TestRiverTablesOfALowerLevel(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		f := newFixture(t, d.Database, "river_"+d.Kind+"_6.sql")
		q := f.queue(queues.River{})
		if got := len(f.pending(q, f.accept(q, f.tasks(10)...)...)); got != 10 {
			t.Errorf("%d of 10 jobs are pending", got)
		}
	})
}

// Each state of a job means the same to the next tick, whatever the queue calls it.
func TestKindsFollowTheirJobs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p preset) {
		f := p.fixture(t)
		q := f.queue(p.kind)
		open := f.accept(q, f.tasks(len(p.states))...)
		for i, s := range p.states {
			p.set(f, open[i], s.set)
		}
		ends := f.ends(q, open)
		for i, s := range p.states {
			var want []sink.Pending
			if s.pending != "" {
				want = []sink.Pending{{JID: open[i].JID, State: jobqueue.State(s.pending), Due: due}}
				if strings.Contains(s.set, ":06:10") {
					want[0].Started = time.Date(2026, 3, 4, 5, 6, 10, 0, time.UTC)
				}
			}
			got := f.pending(q, open[i])
			if len(got) == 1 && !strings.Contains(s.set, ":06:10") {
				got[0].Started = time.Time{}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: pending %+v, want %+v", s.set, got, want)
			}
			end, known := ends[open[i].JID]
			if text := fmt.Sprintf("%s %d %s", end.State, end.Attempts, end.Error); known && text != s.end || !known && s.end != "-" {
				t.Errorf("%s: ended %q, want %q", s.set, text, s.end)
			}
			if at := time.Date(2026, 3, 4, 5, 6, 9, 5e8, time.UTC); strings.Contains(s.set, "05:06:09.5") && !end.Finished.Equal(at) {
				t.Errorf("%s: ended at %s, want %s", s.set, end.Finished, at)
			}
			if got := f.cancel(q, open[i]); (len(got) == 1 && got[0] == open[i].JID) != s.cancels {
				t.Errorf("%s: cancelled %v, want it to be %v", s.set, got, s.cancels)
			}
			if s.cancels && len(f.pending(q, open[i])) > 0 {
				t.Errorf("%s: pending after it was cancelled", s.set)
			}
		}
		if gone := q.(sink.EndTeller).Gone(); gone != p.gone {
			t.Errorf("a job that is gone has ended as %s, want %s", gone, p.gone)
		}
		if _, of := p.kind.(queues.SQL); of {
			return // the statements are the user's
		}
		for _, ref := range []string{"17000", "mail/17000", "nowhere/1", "0190d2a4-7b1e-7000-8000-000000000001", "x"} {
			if got := f.pending(q, sink.Open{TaskID: "t", JID: "j", Ref: ref}); len(got) > 0 {
				t.Errorf("%+v is pending, which is no job of this queue", got)
			}
		}
	})
}

// A queue that was emptied counts from 1 again. The job of somebody else that has the reference of one of ours is spared.
func TestKindsSpareJobsOfOthers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p preset) {
		if p.forget == "" {
			t.Parallel()
			return // its references are unique, or the statements are the user's
		}
		f := p.fixture(t)
		q := f.queue(p.kind)
		open := f.accept(q, f.tasks(3)...)
		f.Exec(p.forget)
		f.accept(q, f.task("another", "{}"))
		before := f.One("SELECT count(*) FROM " + p.table)
		if got := f.pending(q, open...); len(got) > 0 {
			t.Errorf("pending %+v: that is somebody else's job", got)
		}
		if got := f.cancel(q, open...); len(got) > 0 {
			t.Errorf("cancelled %v: that is somebody else's job", got)
		}
		f.Want(before, "SELECT count(*) FROM "+p.table)
	})
}

// A look takes no locks, a job that a worker is about to take is not waited for, nor is a locked table.
func TestKindsPassOverLocks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p preset) {
		if !p.skipsLocked {
			t.Parallel()
			return // the statements are the user's, or functions of the queue
		}
		f := p.fixture(t)
		if f.Kind == storetest.SQLite {
			return
		}
		q := f.queue(p.kind)
		open := f.accept(q, f.tasks(2)...)
		worker := f.Hold("SELECT 1 FROM "+p.table+" WHERE "+p.where+" FOR UPDATE", open[0].Ref)
		if got := f.pending(q, open...); len(got) != 2 {
			t.Errorf("%d jobs are pending, want both", len(got))
		}
		wantSame(t, f.cancel(q, open...), open[1].JID)
		if _, err := worker.Exec("LOCK TABLE " + p.table + " IN ACCESS EXCLUSIVE MODE"); err != nil {
			t.Fatal(err)
		}
		err := f.db.UpdateWithin(t.Context(), sqldb.BriefLockWait, func(tx *sqldb.Tx) error { return q.(prober).Probe(t.Context(), tx.DBTX()) })
		if !errors.Is(err, sqldb.ErrContended) {
			t.Errorf("Probe of the locked table: %v, want %v", err, sqldb.ErrContended)
		}
	})
}

// Only the bad jobs of a batch are refused, in the words of the database.
func TestKindsRefuseRowsAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p preset) {
		f := p.fixture(t)
		jobs := f.tasks(20)
		want := map[string]string{}
		for i, b := range p.bad {
			job := f.task(fmt.Sprintf("bad-%d", i), b.args)
			b.edit(&job)
			want[job.JID] = b.want
			jobs = slices.Insert(jobs, i*3, job)
		}
		wantRefused(t, f.sortOut(f.queue(p.kind), jobs...), want)
		f.Want(20, "SELECT count(*) FROM "+p.table)
	})
}

// What keeps a queue from being used as a whole is said in the database's own words.
func TestKindsSayWhyTheyCannotBeUsed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p preset) {
		for name, b := range p.broken {
			t.Run(name, func(t *testing.T) {
				f := p.fixture(t)
				job := f.task("t", "{}")
				f.Exec(b.setup)
				if q := f.queue(p.kind); b.want == "" {
					f.accept(q, job)
				} else {
					f.unusable(q, b.want)
				}
			})
		}
	})
}
