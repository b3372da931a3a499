package queues_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store/queues"
)

// riverFiles are the files of River's tables at a level, 6 or 7.
func riverFiles(d *storetest.Database, level int) []string {
	files := []string{"river_" + d.Kind + "_6.sql"}
	if level > 6 {
		files = append(files, "river_"+d.Kind+"_7.sql")
	}
	return files
}

// river runs a test with River's tables on both databases, at the newest level.
func river(t *testing.T, run func(t *testing.T, f *fixture)) {
	t.Helper()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		run(t, newFixture(t, d.Database, riverFiles(d.Database, 7)...))
	})
}

func TestRiverTakesABatch(t *testing.T) {
	t.Parallel()
	for _, level := range []int{6, 7} {
		t.Run(fmt.Sprintf("level%d", level), func(t *testing.T) {
			migrated.Both(t, func(t *testing.T, d *migrated.Database) {
				f := newFixture(t, d.Database, riverFiles(d.Database, level)...)
				q := f.queue(queues.River{})
				open := f.accept(q, f.tasks(1000)...)
				f.Want(1000, "SELECT count(*) FROM river_job WHERE state = 'available' AND attempt = 0 AND max_attempts = 25")
				for _, i := range []int{0, 499, 999} {
					f.Want(i, "SELECT args->>'n' FROM river_job WHERE id = CAST(? AS integer)", open[i].Ref)
				}
				if got := len(f.pending(q, open...)); got != 1000 {
					t.Errorf("%d of 1000 jobs are pending", got)
				}
			})
		})
	}
}

func TestRiverShowsWhereAJobComesFrom(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		job := f.task("nightly", `{"to": ["a", {"b": null}], "money": 1e3}`)
		job.Priority, job.Traceparent = 10, traceparent
		ref := f.accept(f.queue(queues.River{MaxAttempts: 3}), job)[0].Ref
		at := map[string]string{
			storetest.Postgres: "to_char(scheduled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')", storetest.SQLite: "scheduled_at || ''",
		}[f.Kind]
		for column, want := range map[string]any{
			"kind": "report", "queue": "mail", "max_attempts": 3, "priority": 1, at: "2026-03-04 05:06:07.089",
			"metadata->>'traceparent'": traceparent, "metadata->'nextrun'->>'task'": "nightly", "metadata->'nextrun'->>'jid'": job.JID,
			"metadata->'nextrun'->>'due'": "2026-03-04T05:06:07.089Z", "args->'to'->1->>'b'": "", "args->'to'->>0": "a",
		} {
			f.Want(want, "SELECT "+column+" FROM river_job WHERE id = CAST(? AS integer)", ref)
		}
		text := map[string]string{storetest.Postgres: "metadata::text", storetest.SQLite: "json(metadata)"}[f.Kind]
		if tick, ok := queues.RiverTick([]byte(f.One("SELECT " + text + " FROM river_job"))); !ok || tick.TaskID != "nightly" || !tick.Due.Equal(job.Due) {
			t.Errorf("the job is for the tick %v (%t)", tick, ok)
		}
	})
	if _, ok := queues.RiverTick([]byte(`{"nextrun": 1}`)); ok {
		t.Error("a job that is not of a task has a tick")
	}
}

// traceparent is that of whoever submits a job.
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestRiverPrioritiesAndQueues(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		for priority, want := range map[int]int{0: 4, 2: 4, 3: 3, 5: 3, 6: 2, 8: 2, 9: 1, 10: 1} {
			job := f.task(fmt.Sprint("p", priority), "{}")
			job.Priority = priority
			f.accept(f.queue(queues.River{}), job)
			f.Want(want, "SELECT priority FROM river_job WHERE metadata->'nextrun'->>'task' = ?", job.Tracker)
		}
		f.accept(f.queue(queues.River{Queue: "bulk", Priority: 2}), f.task("fixed", "{}"))
		f.Want("bulk 2", "SELECT queue || ' ' || priority FROM river_job WHERE metadata->'nextrun'->>'task' = 'fixed'")
	})
}

// TestRiverStates says what each of River's states means for the next tick.
func TestRiverStates(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		q := f.queue(queues.River{})
		states := []struct {
			name   string
			want   jobqueue.State // empty: final
			cancel bool
		}{
			{"available", jobqueue.Waiting, true}, {"pending", jobqueue.Waiting, true}, {"scheduled", jobqueue.Waiting, true},
			{"retryable", jobqueue.Stuck, true}, {"running", jobqueue.Running, false},
			{"completed", "", false}, {"cancelled", "", false}, {"discarded", "", false}, {"gone", "", false},
		}
		for _, s := range states {
			open := f.accept(q, f.task(s.name, "{}"))[0]
			switch {
			case s.name == "gone":
				f.Exec("DELETE FROM river_job WHERE id = CAST(? AS integer)", open.Ref)
			case s.name == "running":
				f.Exec("UPDATE river_job SET state = 'running', attempt = 1, attempted_at = '2026-03-04 05:06:10+00:00' WHERE id = CAST(? AS integer)", open.Ref)
			case s.want == "":
				f.Exec("UPDATE river_job SET state = '"+s.name+"', finalized_at = CURRENT_TIMESTAMP WHERE id = CAST(? AS integer)", open.Ref)
			default:
				f.Exec("UPDATE river_job SET state = '"+s.name+"' WHERE id = CAST(? AS integer)", open.Ref)
			}
			var want []sink.Pending
			if s.want != "" {
				want = []sink.Pending{{JID: open.JID, State: s.want, Due: due}}
			}
			if s.name == "running" {
				want[0].Started = due.Truncate(10e9).Add(10e9)
			}
			if got := f.pending(q, open); !slices.Equal(got, want) {
				t.Errorf("%s: pending %+v, want %+v", s.name, got, want)
			}
			if got := f.cancel(q, open); len(got) == 1 != s.cancel || s.cancel && got[0] != open.JID {
				t.Errorf("%s: cancelled %v, want it to be %v", s.name, got, s.cancel)
			}
			if s.cancel {
				f.Want("cancelled", "SELECT state FROM river_job WHERE id = CAST(? AS integer)", open.Ref)
				if got := f.pending(q, open); len(got) > 0 {
					t.Errorf("%s: pending %+v after it was cancelled", s.name, got)
				}
			}
		}
	})
}

func TestRiverRefusesASecondSingleJob(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		q := f.queue(queues.River{})
		first := f.task("one", "{}")
		open := f.accept(q, first)[0]
		second := first
		second.JID = jobqueue.NewID()
		done, err := f.submit(q, second)
		if err != nil || len(done) != 1 || !done[0].Passing || !strings.Contains(done[0].Refused, "unfinished job") {
			t.Errorf("the second job: %+v, %v, want it refused for now", done, err)
		}
		second.Single = false
		f.accept(q, second)
		f.Exec("UPDATE river_job SET state = 'completed', finalized_at = CURRENT_TIMESTAMP WHERE id = CAST(? AS integer)", open.Ref)
		second.JID, second.Single = jobqueue.NewID(), true
		f.accept(q, second)
	})
}

// TestRiverLockedJobs: a look takes no locks, and a job that a worker is about to
// take is not waited for.
func TestRiverLockedJobs(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	f := newFixture(t, d.Database, riverFiles(d.Database, 7)...)
	q := f.queue(queues.River{})
	open := f.accept(q, f.tasks(2)...)
	worker, err := f.SQL.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = worker.Rollback() }()
	if _, err := worker.Exec("SELECT 1 FROM river_job WHERE id = $1 FOR UPDATE", open[0].Ref); err != nil {
		t.Fatal(err)
	}
	if got := f.pending(q, open...); len(got) != 2 {
		t.Errorf("%d jobs are pending, want both", len(got))
	}
	wantSame(t, f.cancel(q, open...), open[1].JID)
	if _, err := worker.Exec("LOCK TABLE river_job IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	err = f.db.UpdateWithin(t.Context(), sqldb.BriefLockWait, func(tx *sqldb.Tx) error { return q.(prober).Probe(t.Context(), tx.DBTX()) })
	if !errors.Is(err, sqldb.ErrContended) {
		t.Errorf("Probe of the locked table: %v, want %v", err, sqldb.ErrContended)
	}
}

// TestRiverReusedID is about SQLite, which gives the id of a deleted job to the next.
func TestRiverReusedID(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		q := f.queue(queues.River{})
		old := f.accept(q, f.task("old", "{}"))[0]
		f.Exec("DELETE FROM river_job")
		other := f.accept(q, f.task("new", "{}"))[0]
		if f.Kind == storetest.SQLite && old.Ref != other.Ref {
			t.Fatalf("ids %s and %s, want the same", old.Ref, other.Ref)
		}
		if got := f.pending(q, old); len(got) > 0 {
			t.Errorf("pending %+v: that is the job of another task", got)
		}
		if got := f.cancel(q, old); len(got) > 0 {
			t.Errorf("cancelled %v: that is the job of another task", got)
		}
	})
}

func TestRiverReferencesOfAnotherKindAreFinal(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		q := f.queue(queues.River{})
		foreign := sink.Open{TaskID: "t", JID: "j", Ref: "0190d2a4-7b1e-7000-8000-000000000001"}
		if got := f.pending(q, foreign); len(got) > 0 {
			t.Errorf("pending %+v", got)
		}
	})
}

func TestRiverWakesTheWorkersOfEachQueueOnce(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		if f.Kind == storetest.SQLite {
			return // River's client polls there
		}
		q := f.queue(queues.River{})
		heard := f.hear("public.river_insert")
		jobs := f.tasks(9)
		for i := range jobs {
			jobs[i].Group = []string{"mail", "bulk", `odd "name"`}[i%3]
		}
		f.accept(q, jobs...)
		want := []string{`{"queue":"bulk"}`, `{"queue":"mail"}`, `{"queue":"odd \"name\""}`}
		got := heard(len(want))
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], `" : "`, `":"`)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("heard %q, want %q", got, want)
		}
	})
}
