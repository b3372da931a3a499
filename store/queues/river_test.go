package queues_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/task"
	"github.com/nextrun/nextrun/store/internal/sqldb"
	"github.com/nextrun/nextrun/store/queues"
	"github.com/nextrun/nextrun/store/storetest"
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
	storetest.Both(t, func(t *testing.T, d *storetest.Database) { run(t, newFixture(t, d, riverFiles(d, 7)...)) })
}

func TestRiverTakesABatch(t *testing.T) {
	for _, level := range []int{6, 7} {
		t.Run(fmt.Sprintf("level%d", level), func(t *testing.T) {
			storetest.Both(t, func(t *testing.T, d *storetest.Database) {
				f := newFixture(t, d, riverFiles(d, level)...)
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
	river(t, func(t *testing.T, f *fixture) {
		job := f.task("nightly", `{"to": ["a", {"b": null}], "money": 1e3}`)
		job.Priority = 10
		ref := f.accept(f.queue(queues.River{MaxAttempts: 3}), job)[0].Ref
		at := map[string]string{
			storetest.Postgres: "to_char(scheduled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')", storetest.SQLite: "scheduled_at || ''",
		}[f.Kind]
		for column, want := range map[string]any{
			"kind": "report", "queue": "mail", "max_attempts": 3, "priority": 1, at: "2026-03-04 05:06:07.089",
			"metadata->'nextrun'->>'task'": "nightly", "metadata->'nextrun'->>'jid'": job.JID,
			"metadata->'nextrun'->>'due'": "2026-03-04T05:06:07.089Z", "args->'to'->1->>'b'": "", "args->'to'->>0": "a",
		} {
			f.Want(want, "SELECT "+column+" FROM river_job WHERE id = CAST(? AS integer)", ref)
		}
	})
}

func TestRiverPrioritiesAndQueues(t *testing.T) {
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
			var want []task.Pending
			if s.want != "" {
				want = []task.Pending{{JID: open.JID, State: s.want, Due: due}}
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
	d := storetest.New(t, storetest.Postgres)
	f := newFixture(t, d, riverFiles(d, 7)...)
	q := f.queue(queues.River{})
	open := f.accept(q, f.tasks(2)...)
	worker, err := f.SQL.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Rollback() //nolint:errcheck // it only holds a lock
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
	err = f.db.UpdateWithin(t.Context(), sqldb.ProbeWait, func(tx *sqldb.Tx) error { return q.(prober).Probe(t.Context(), tx.DBTX()) })
	if !errors.Is(err, sqldb.ErrContended) {
		t.Errorf("Probe of the locked table: %v, want %v", err, sqldb.ErrContended)
	}
}

// TestRiverReusedID is about SQLite, which gives the id of a deleted job to the next.
func TestRiverReusedID(t *testing.T) {
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
	river(t, func(t *testing.T, f *fixture) {
		q := f.queue(queues.River{})
		foreign := backend.Open{TaskID: "t", JID: "j", Ref: "0190d2a4-7b1e-7000-8000-000000000001"}
		if got := f.pending(q, foreign); len(got) > 0 {
			t.Errorf("pending %+v", got)
		}
	})
}

func TestRiverWakesTheWorkersOfEachQueueOnce(t *testing.T) {
	river(t, func(t *testing.T, f *fixture) {
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

// TestRiverBadRows: only the bad jobs of a batch are refused, in the words of the
// database, and quickly.
func TestRiverBadRows(t *testing.T) {
	river(t, func(t *testing.T, f *fixture) {
		q := f.queue(queues.River{})
		jobs := f.tasks(1000)
		f.Exec(`UPDATE periodic_task SET args = '{"broken": ' WHERE id = 't500'`)
		jobs[1].Task = strings.Repeat("é", 128)
		jobs[2].Group = strings.Repeat("q", 128)
		jobs[3].Task = ""
		jobs[4].Priority = 11
		jobs[5].Task = strings.Repeat("é", 127)
		want := map[string]string{"t1": "127 characters", "t2": "127 characters", "t3": "task is empty", "t4": "priority is 11", "t500": "JSON"}
		if f.Kind == storetest.Postgres {
			f.Exec(`UPDATE periodic_task SET args = '{"nul": "\u0000"}' WHERE id = 't900'`)
			want["t500"], want["t900"] = "invalid input syntax for type json", `\u0000 cannot be converted`
		}
		done, err := f.submit(q, jobs...)
		if err != nil {
			t.Fatal(err)
		}
		trackers := map[string]string{}
		for _, j := range jobs {
			trackers[j.JID] = j.Tracker
		}
		refused := 0
		for _, s := range done {
			if s.Refused == "" {
				continue
			}
			refused++
			if id := trackers[s.JID]; want[id] == "" || !strings.Contains(s.Refused, want[id]) || s.Passing {
				t.Errorf("%s refused: %q, passing %v; want %q, for good", id, s.Refused, s.Passing, want[id])
			}
		}
		if refused != len(want) || len(done) != 1000 {
			t.Errorf("%d of %d refused, want %d of 1000", refused, len(done), len(want))
		}
		f.Want(1000-len(want), "SELECT count(*) FROM river_job")
	})
}

// TestRiverBatchThatFailsAlike blames no job: what all fail with is not their fault.
func TestRiverBatchThatFailsAlike(t *testing.T) {
	river(t, func(t *testing.T, f *fixture) {
		q := f.queue(queues.River{})
		f.accept(q, f.task("before", "{}"))
		f.Exec(map[string]string{
			storetest.Postgres: `ALTER TABLE river_job ADD CHECK (kind <> 'report') NOT VALID`,
			storetest.SQLite:   `CREATE TRIGGER no BEFORE INSERT ON river_job BEGIN SELECT RAISE(ABORT, 'no CHECK (kind'); END`,
		}[f.Kind])
		done, err := f.submit(q, f.tasks(40)...)
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), "check") {
			t.Errorf("submitted %d, %v; want an error about the check", len(done), err)
		}
	})
}

func TestRiverProblems(t *testing.T) {
	for name, c := range map[string]struct {
		files func(*storetest.Database) []string
		sql   string
		kind  queues.River
		want  string
	}{
		"no tables": {want: "there is no table river_job in this database: run: river migrate-up"},
		"too old": {
			files: func(d *storetest.Database) []string { return riverFiles(d, 6) },
			sql:   "DELETE FROM river_migration WHERE version > 4",
			want:  "River's schema is at level 4; nextrun needs 6 or newer: run river migrate-up",
		},
		"half migrated": {
			files: func(d *storetest.Database) []string { return riverFiles(d, 6) },
			sql:   "DROP INDEX river_job_unique_idx; ALTER TABLE river_job DROP COLUMN unique_states",
			want:  "no column unique_states",
		},
		"a column that nextrun does not know": {
			files: func(d *storetest.Database) []string { return riverFiles(d, 6) },
			sql:   "ALTER TABLE river_job RENAME COLUMN max_attempts TO tries",
			want:  "column tries that needs a value",
		},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Both(t, func(t *testing.T, d *storetest.Database) {
				var files []string
				if c.files != nil {
					files = c.files(d)
				}
				f := newFixture(t, d, files...)
				f.Exec(c.sql)
				f.unusable(f.queue(c.kind), c.want)
			})
		})
	}
}

// TestRiverBecomesUsable: nobody has to restart a scheduler.
func TestRiverBecomesUsable(t *testing.T) {
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		f := newFixture(t, d)
		q := f.queue(queues.River{})
		job := f.task("one", "{}")
		f.unusable(q, "no table river_job")
		f.run(riverFiles(d, 6)...)
		open := f.accept(q, job)
		f.Exec("ALTER TABLE river_job RENAME TO hidden")
		f.unusable(q, "no table river_job")
		f.Exec("ALTER TABLE hidden RENAME TO river_job")
		if got := f.pending(q, open...); len(got) != 1 {
			t.Errorf("pending %+v, want the job", got)
		}
	})
}

func TestRiverInSchemaWithRole(t *testing.T) {
	f := newFixture(t, storetest.New(t, storetest.Postgres))
	f.Exec(`CREATE SCHEMA "Side-Jobs"`)
	f.Exec(`SET search_path = "Side-Jobs"; ` + f.script("river_postgres_6.sql") + f.script("river_postgres_7.sql") + `; RESET search_path`)
	role := f.bareRole()
	f.Exec(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ` + role)
	q := f.queue(queues.River{Schema: "Side-Jobs"})
	job := f.task("one", "{}")
	f.as(role, func(ctx context.Context, tx jobqueue.DBTX) {
		_, err := q.Submit(ctx, tx, []jobqueue.Job{job})
		for _, want := range []string{
			`role ` + role + ` lacks rights on "Side-Jobs"."river_job"`, `GRANT USAGE ON SCHEMA "Side-Jobs" TO ` + role,
			`GRANT SELECT, INSERT, UPDATE ON "Side-Jobs"."river_job" TO ` + role, `GRANT USAGE ON SEQUENCE "Side-Jobs".river_job_id_seq TO ` + role,
		} {
			if !errors.Is(err, queues.ErrUnusable) || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v, want %s", err, want)
			}
		}
	})
	report, err := q.Inspect(t.Context()) // as the owner, who may
	if err != nil || len(report.Problems) > 0 || report.Found != "schema level 7" || len(report.Grants) != 3 {
		t.Errorf("report %+v, %v", report, err)
	}
	heard := f.hear("Side-Jobs.river_insert")
	f.as(role, func(ctx context.Context, tx jobqueue.DBTX) {
		_, err := tx.ExecContext(ctx, "RESET ROLE")
		for _, grant := range report.Grants {
			if err == nil {
				_, err = tx.ExecContext(ctx, strings.Replace(grant, " TO ", " TO "+role+", ", 1))
			}
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, "SET LOCAL ROLE "+role)
		}
		if err == nil {
			err = q.(prober).Probe(ctx, tx)
		}
		if err != nil {
			t.Fatal(err)
		}
		done, err := q.Submit(ctx, tx, []jobqueue.Job{job})
		if err != nil || done[0].Ref == "" {
			t.Errorf("with these rights: %+v, %v", done, err)
		}
	})
	if got := heard(1); got[0] != `{"queue" : "mail"}` {
		t.Errorf("heard %q", got)
	}
}

func TestRiverHasNoSchemaOnSQLite(t *testing.T) {
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		_, err := (queues.River{Schema: "river"}).Open(open(t, d.URL))
		if d.Kind == storetest.SQLite && (err == nil || !strings.Contains(err.Error(), "SQLite has no schemas")) || d.Kind == storetest.Postgres && err != nil {
			t.Errorf("the error is %v", err)
		}
	})
}

// TestRiverErrorsOfAnotherTable: what a trigger of the user's lacks is no table of
// nextrun.
func TestRiverErrorsOfAnotherTable(t *testing.T) {
	river(t, func(t *testing.T, f *fixture) {
		f.Exec(map[string]string{
			storetest.Postgres: `CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO event_copy VALUES (NEW.id); RETURN NEW; END $$;
				CREATE TRIGGER keep AFTER INSERT ON river_job FOR EACH ROW EXECUTE FUNCTION keep()`,
			storetest.SQLite: `CREATE TRIGGER keep AFTER INSERT ON river_job BEGIN INSERT INTO event_copy VALUES (NEW.id); END`,
		}[f.Kind])
		_, err := f.submit(f.queue(queues.River{}), f.task("t", "{}"))
		if !errors.Is(err, queues.ErrUnusable) || errors.Is(err, sqldb.ErrNoSchema) || !strings.Contains(err.Error(), "event_copy") {
			t.Errorf("the error is %v, want one about event_copy that does not send for nextrun's migrations", err)
		}
	})
}
