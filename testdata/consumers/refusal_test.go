package consumers_test

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// fault is something that keeps nextrun from a queue as a whole.
type fault struct {
	name    string
	prepare func(t testing.TB, q queue) *fixture
	mend    func(f *fixture)
	problem string // a part of what the task's problem says; each kind has words of its own
}

// faults are those of every kind of queue. old makes tables of a version that
// nextrun does not know, renew brings them up to date.
func faults(q queue, old, renew func(f *fixture)) []fault {
	list := []fault{
		{
			name:    "tables are missing",
			prepare: bareFixture,
			mend:    func(f *fixture) { f.migrateQueue() },
		},
		{
			name: "version is too old",
			prepare: func(t testing.TB, q queue) *fixture {
				f := bareFixture(t, q)
				old(f)
				return f
			},
			mend: renew,
		},
	}
	if q.database == storetest.Postgres {
		list = append(list, fault{name: "role lacks the right", prepare: withoutRight, mend: grant, problem: "permission denied"})
	}
	return list
}

// refuse breaks a queue in every way: the task's problem says what is wrong, the
// tasks of other queues keep their pace, and when the fault is mended every tick
// since is accounted for and jobs arrive.
func refuse(t *testing.T, q queue, list []fault) {
	for _, fault := range list {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			f := fault.prepare(t, q)
			f.insert("sick", q.sink, "proof", proofArgs{Task: "sick"}.String())
			f.insert("well", "job", "proof", "{}")
			f.startScheduler("scheduler")
			f.hasProblem("sick", fault.problem)
			f.keepsPace("well")
			f.Want(0, "SELECT count(*) FROM periodic_tick WHERE task_id = 'sick' AND decision = 'submitted'")

			fault.mend(f)
			storetest.Eventually(f, "a job of the task that was refused", func() bool {
				return f.One("SELECT count(*) FROM ("+q.unfinished+") AS u WHERE u.task = 'sick'") != "0"
			})
			storetest.Eventually(f, "no problem any more", func() bool {
				return f.One("SELECT coalesce(problem, '') FROM periodic_task WHERE id = 'sick'") == ""
			})
			f.stop("scheduler")
			f.contiguous("sick")
			f.contiguous("well")
		})
	}
}

// badRow is a task whose jobs a queue does not take.
type badRow struct{ name, task, args, problem string }

// refuseRows lets a queue refuse jobs: each task's problem says why, its ticks are
// skipped for that reason, and a task of the same queue keeps its pace.
func refuseRows(t *testing.T, q queue, rows []badRow) {
	t.Parallel()
	f := newFixture(t, q)
	for i, row := range rows {
		f.insert(fmt.Sprintf("sick-%d", i), q.sink, row.task, row.args)
	}
	f.insert("well", q.sink, "proof", proofArgs{Task: "well"}.String())
	f.Exec("UPDATE periodic_task SET overlap = 'allow'") // no worker runs
	f.startScheduler("scheduler")
	for i, row := range rows {
		id := fmt.Sprintf("sick-%d", i)
		f.hasProblem(id, row.problem)
		f.Want(0, "SELECT count(*) FROM periodic_tick WHERE task_id = ? AND decision = 'submitted'", id)
	}
	f.keepsPace("well")
	f.stop("scheduler")
	for i, row := range rows {
		id := fmt.Sprintf("sick-%d", i)
		f.contiguous(id)
		f.Want(0, "SELECT count(*) FROM periodic_tick WHERE task_id = ? AND decision NOT IN ('skipped', 'missed')", id)
		t.Logf("%s: %s", row.name, f.One("SELECT max(reason) FROM periodic_tick WHERE task_id = ? AND decision = 'skipped'", id))
	}
	f.contiguous("well")
}

// insert inserts a task that is due every second.
func (f *fixture) insert(id, sink, task, args string) {
	f.Helper()
	f.Exec("INSERT INTO periodic_task (id, task, args, timer, sink) VALUES (?, ?, ?, '*:*:*', ?)", id, task, args, sink)
}

// hasProblem waits until a task's problem has a text.
func (f *fixture) hasProblem(id, text string) {
	f.Helper()
	problem := ""
	for late := time.Now().Add(storetest.Patience / 2); !strings.Contains(problem, text) || problem == ""; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(late) {
			f.Fatalf("the problem of %s is %q, want %q", id, problem, text)
		}
		problem = f.One("SELECT coalesce(problem, '') FROM periodic_task WHERE id = ?", id)
	}
	f.Logf("the problem of %s: %s", id, problem)
}

// keepsPace waits for further ticks of a task and checks how late they were.
func (f *fixture) keepsPace(id string) {
	f.Helper()
	storetest.Punctual(f, id, func() []time.Duration { return f.pace(id) })
}

// pace waits for further ticks of a task and returns how late they were.
func (f *fixture) pace(id string) (late []time.Duration) {
	f.Helper()
	from := time.Now()
	const ticks = 4
	query := "SELECT %s FROM periodic_tick WHERE task_id = ? AND decided >= ?"
	storetest.Eventually(f, "ticks of "+id, func() bool {
		n, err := strconv.Atoi(f.One(fmt.Sprintf(query, "count(*)"), id, f.time(from)))
		return err == nil && n >= ticks
	})
	var rows []struct{ Due, Decided time.Time }
	if err := f.SQL.Select(&rows, f.SQL.Rebind(fmt.Sprintf(query, "due, decided")), id, f.time(from)); err != nil {
		f.Fatal(err)
	}
	for _, row := range rows {
		late = append(late, row.Decided.Sub(row.Due))
	}
	return late
}

// contiguous checks that the ticks of a task that is due every second follow one
// another without a gap.
func (f *fixture) contiguous(id string) {
	f.Helper()
	var rows []tick
	err := f.SQL.Select(&rows, f.SQL.Rebind("SELECT task_id, due, until, decision, jid FROM periodic_tick WHERE task_id = ? ORDER BY due"), id)
	if err != nil {
		f.Fatal(err)
	}
	if len(rows) == 0 {
		f.Errorf("%s has no ticks", id)
	}
	var next time.Time
	for _, row := range rows {
		if !next.IsZero() && !row.Due.Equal(next) {
			f.Errorf("%s: the tick of %s is not accounted for", id, next)
		}
		next = row.Due.Add(time.Second)
		if row.Until.Valid {
			next = row.Until.Time.Add(time.Second)
		}
	}
}

// withoutRight lets nextrun connect as a role that has all rights in nextrun's
// tables, and none in the queue's.
func withoutRight(t testing.TB, q queue) *fixture {
	t.Helper()
	f := bareFixture(t, q)
	role := strings.ToLower("nextrun_test_" + rand.Text())
	f.Exec("CREATE ROLE " + role + " LOGIN PASSWORD 'secret'")
	t.Cleanup(func() { f.Exec("DROP OWNED BY " + role + "; DROP ROLE " + role) })
	f.Exec("GRANT USAGE ON SCHEMA public TO " + role + "; GRANT ALL ON ALL TABLES IN SCHEMA public TO " + role)
	f.migrateQueue()
	u, err := url.Parse(f.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, "secret")
	f.url, f.role = u.String(), role
	return f
}

// grant gives the role all rights in the queue's schema.
func grant(f *fixture) {
	schema := f.queue.schema
	f.Exec("GRANT USAGE ON SCHEMA " + schema + " TO " + f.role + "; GRANT ALL ON ALL TABLES IN SCHEMA " + schema + " TO " + f.role +
		"; GRANT ALL ON ALL SEQUENCES IN SCHEMA " + schema + " TO " + f.role + "; GRANT ALL ON ALL ROUTINES IN SCHEMA " + schema + " TO " + f.role)
}
