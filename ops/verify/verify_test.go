package verify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/ops/verify"
	"github.com/nextrun/nextrun/periodic"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

// fixture is a database in which a task has run each hour of the last hours, as a
// scheduler and an executor leave it.
type fixture struct {
	*migrated.Database
	now, first, due time.Time // the first recorded tick, the planned one
}

const hours = 6

func newFixture(t *testing.T, d *migrated.Database) *fixture {
	t.Helper()
	now := time.Now().UTC() // half an hour from a tick, whatever the time of day
	f := &fixture{Database: d, now: now, due: now.Truncate(time.Minute).Add(30 * time.Minute)}
	f.first = f.due.Add(-hours * time.Hour)
	f.Exec(`INSERT INTO periodic_task (id, task, timer, created, since) VALUES ('report', 'work', ?, ?, ?)`, f.due.Format("*:04"), f.before(), f.before())
	f.plan("report")
	for due := f.first; due.Before(f.due); due = due.Add(time.Hour) {
		f.tick(due)
	}
	return f
}

// before is when the task was added, before its first tick.
func (f *fixture) before() sqldb.Timestamp { return sqldb.Timestamp(f.first.Add(-time.Minute)) }

// plan plans the next tick, as a scheduler does.
func (f *fixture) plan(id string) {
	f.Helper()
	f.Exec(`UPDATE periodic_task SET due = ?, nextrun = ? WHERE id = ?`, sqldb.Timestamp(f.due), sqldb.Timestamp(f.due), id)
}

// tick records a tick, and its job.
func (f *fixture) tick(due time.Time) {
	f.Helper()
	at, jid := sqldb.Timestamp(due), "job-"+due.Format("15:04:05")
	f.Exec(`INSERT INTO periodic_tick (task_id, due, decision, jid, worker, decided) VALUES ('report', ?, 'submitted', ?, 'host@1.1', ?)`, at, jid, at)
	f.Exec(`INSERT INTO job (jid, task, tracker, due, submitted, state, single, finished) VALUES (?, 'work', 'report', ?, ?, 'success', true, ?)`, jid, at, at, at)
}

// lose deletes jobs so that they leave nothing in their ticks, as a restore does.
func (f *fixture) lose(statement string, args ...any) {
	f.Helper()
	f.Exec(statement, args...)
	f.Exec(`UPDATE periodic_tick SET outcome = NULL, finished = NULL, attempts = NULL`)
}

// elsewhere makes the task one whose jobs go to another queue: all but the newest have ended.
func (f *fixture) elsewhere() {
	f.Helper()
	f.Exec(`UPDATE periodic_task SET sink = 'mail'`)
	f.plan("report")
	f.Exec(`UPDATE periodic_task SET since = ?`, f.before())
	f.lose(`DELETE FROM job`)
	f.Exec(`UPDATE periodic_tick SET outcome = 'success', finished = decided WHERE due < ?`, f.at(hours-1))
	f.Exec(`INSERT INTO periodic_open (task_id, due, sink, ref, jid, submitted, look)
		SELECT task_id, due, 'mail', jid, jid, decided, ? FROM periodic_tick WHERE outcome IS NULL`, sqldb.Timestamp(f.now))
}

func (f *fixture) verify(o verify.Options) *verify.Report {
	f.Helper()
	r, err := verify.Run(f.Context(), f.Store, o)
	if err != nil {
		f.Fatal(err)
	}
	return r
}

func (f *fixture) at(hour int) sqldb.Timestamp {
	return sqldb.Timestamp(f.first.Add(time.Duration(hour) * time.Hour))
}

// text is what a report says.
func text(r *verify.Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		b.WriteString(string(f.Level) + " " + f.Guarantee + ": " + f.Check + ": " + f.Text + "\n")
		for _, row := range f.Rows {
			b.WriteString("  " + row.About + ": " + row.Detail + "\n")
		}
	}
	return b.String() + strings.Join(r.Undone, "\n")
}

func TestNothingToSayOfAGoodDatabase(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		f := newFixture(t, d)
		f.Exec(`INSERT INTO periodic_task (id, task, timer, created) VALUES ('new', 'work', 'daily', ?), ('bad', 'work', 'noon-ish', ?)`, f.at(0), f.at(0))
		f.Exec(`UPDATE periodic_task SET due = ?, nextrun = ?, problem = 'not a timer' WHERE id = 'bad'`,
			sqldb.Timestamp(periodic.Never), sqldb.Timestamp(periodic.Never))
		f.Exec(`UPDATE periodic_task SET due = ?, nextrun = ? WHERE id = 'new'`, sqldb.Timestamp(f.now.Truncate(24*time.Hour).Add(24*time.Hour)),
			sqldb.Timestamp(f.now.Truncate(24*time.Hour).Add(24*time.Hour)))
		r := f.verify(verify.Options{})
		if len(r.Findings) > 0 || len(r.Undone) > 0 || r.Violated() || r.Tasks != 2 || r.Ticks != hours || len(r.Checks) < 13 {
			t.Errorf("%d checks, %d tasks, %d ticks:\n%s", len(r.Checks), r.Tasks, r.Ticks, text(r))
		}
	})
}

// Each is done to a good database; the report has to say what is wrong with which row.
func TestViolations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		harm     func(f *fixture)
		want     []string
		violated bool
	}{
		"two jobs for a tick": {
			harm: func(f *fixture) {
				f.Exec(`INSERT INTO job (jid, task, tracker, due, state) VALUES ('again', 'work', 'report', ?, 'success')`, f.at(2))
			}, want: []string{"violation G1: jobs of one tick", "report: due ", ": 2 jobs"}, violated: true,
		},
		"two unfinished jobs, although an index is to keep them out": {
			harm: func(f *fixture) {
				f.Exec(`DROP INDEX nextrun_job_pending`)
				f.Exec(`INSERT INTO job (jid, task, tracker, single) VALUES ('a', 'work', 'report', true), ('b', 'work', 'report', true)`)
			}, want: []string{"violation G3: unfinished jobs of one task", "report: 2 jobs"}, violated: true,
		},
		"an abandoned mark": {
			harm: func(f *fixture) {
				f.Exec(`UPDATE periodic_task SET worker = 'gone@1.1', marked = ?`, f.at(3))
			}, want: []string{"violation G4: expired marks", "report: gone@1.1 since "}, violated: true,
		},
		"a tick that nobody decides": {
			harm: func(f *fixture) {
				f.Exec(`UPDATE periodic_task SET due = ?, nextrun = ?`, f.at(hours-1), f.at(hours-1))
				f.Exec(`DELETE FROM periodic_tick WHERE due = ?`, f.at(hours-1))
				f.Exec(`DELETE FROM job WHERE due = ?`, f.at(hours-1))
			}, want: []string{"violation G2: tasks that nobody takes", "report: due "}, violated: true,
		},
		"a tick that was deleted": {
			harm: func(f *fixture) {
				f.Exec(`DELETE FROM periodic_tick WHERE due = ?`, f.at(2))
				f.Exec(`DELETE FROM job WHERE due = ?`, f.at(2))
			}, want: []string{"violation G2: ticks against timers", "report: the tick of "}, violated: true,
		},
		"the newest ticks were deleted": {
			harm: func(f *fixture) {
				f.Exec(`DELETE FROM periodic_tick WHERE due > ?`, f.at(2))
				f.Exec(`DELETE FROM job WHERE due > ?`, f.at(2))
			}, want: []string{"violation G2: ticks against timers", "report: the ticks from "}, violated: true,
		},
		"a job without its tick": {
			harm: func(f *fixture) { f.Exec(`DELETE FROM periodic_tick WHERE due = ?`, f.at(2)) },
			want: []string{"violation G2: jobs without a tick", "job-", "ticks against timers"}, violated: true,
		},
		"a tick without its job": {
			harm: func(f *fixture) { f.lose(`DELETE FROM job WHERE due = ?`, f.at(2)) },
			want: []string{"doubt G2: ticks without their job", "job-"},
		},
		"a plan that the timer does not have": {
			harm: func(f *fixture) {
				at := sqldb.Timestamp(f.due.Add(17 * time.Minute))
				f.Exec(`UPDATE periodic_task SET due = ?, nextrun = ?`, at, at)
			}, want: []string{"violation G9: ticks against timers", `timer "*:`}, violated: true,
		},
		"a tick that the timer does not have": {
			harm: func(f *fixture) { f.tick(f.first.Add(90 * time.Minute)) },
			want: []string{"doubt : ticks against timers", "report: due "},
		},
		"a task that ended too soon": {
			harm: func(f *fixture) {
				f.Exec(`UPDATE periodic_task SET due = ?, nextrun = ?`, sqldb.Timestamp(periodic.Never), sqldb.Timestamp(periodic.Never))
			}, want: []string{"violation G9: ticks against timers", "due 9999-12-31"}, violated: true,
		},
		"a task that nobody takes": {
			harm: func(f *fixture) {
				f.Exec(`UPDATE periodic_task SET due = ?, nextrun = ?`, f.at(2), f.at(2))
			}, want: []string{"violation G2: tasks that nobody takes", "report: due "}, violated: true,
		},
		"a worker that fell silent": {
			harm: func(f *fixture) {
				f.Exec(`INSERT INTO worker (id, kind, version, started, seen) VALUES ('w@1', 'executor', 'v', ?, ?)`, f.at(2), f.at(2))
				f.Exec(`UPDATE job SET state = 'running', finished = NULL, worker = 'w@1' WHERE due = ?`, f.at(2))
			}, want: []string{"violation : abandoned jobs", "w@1, last heard of "}, violated: true,
		},
		"a job in another queue that nobody asks about": {
			harm: func(f *fixture) { f.elsewhere(); f.Exec(`UPDATE periodic_open SET look = ?`, f.at(5)) },
			want: []string{"doubt : ends of jobs in other queues", "report: due ", "in the queue mail, since "},
		},
		"a job in another queue that is forgotten": {
			harm: func(f *fixture) { f.elsewhere(); f.Exec(`DELETE FROM periodic_open`) },
			want: []string{"doubt : jobs whose end nobody awaits", "report: due "},
		},
		"versions of events with a gap": {
			harm: func(f *fixture) {
				f.Exec(`INSERT INTO event_aggregate (id, version) VALUES ('order', 4)`)
				f.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('1', 't', 'x', 'order', 1), ('2', 't', 'x', 'order', 2), ('4', 't', 'x', 'order', 4)`)
			}, want: []string{"violation : versions of events", "order: 3 events with versions 1 to 4"}, violated: true,
		},
		"events out of order": {
			harm: func(f *fixture) {
				f.Exec(`INSERT INTO event_aggregate (id, version) VALUES ('order', 2)`)
				f.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('2', 't', 'x', 'order', 2)`)
				f.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('1', 't', 'x', 'order', 1)`)
			}, want: []string{"violation : order of events", "order: version 2 comes before 1"}, violated: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			migrated.Both(t, func(t *testing.T, d *migrated.Database) {
				f := newFixture(t, d)
				c.harm(f)
				r := f.verify(verify.Options{})
				for _, want := range c.want {
					if !strings.Contains(text(r), want) {
						t.Errorf("the report lacks %q", want)
					}
				}
				if r.Violated() != c.violated || len(r.Undone) > 0 || t.Failed() {
					t.Errorf("violated %v:\n%s", r.Violated(), text(r))
				}
			})
		})
	}
}
