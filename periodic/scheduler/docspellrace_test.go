package scheduler_test

import (
	"database/sql"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
)

// joex is the loop of Docspell's periodic scheduler, statement by statement: each is a
// transaction of its own, and it has no pause after a task that it could not mark.
type joex struct {
	*race
	name string
	db   *sqlx.DB

	statements                     int
	submitted, waited, stale, dead int
}

// race is what all who take part in it know.
type race struct {
	*fixture
	lock  sync.Mutex
	ticks map[string][]string // who submitted the tick of a task, and whether from an old copy
}

const joexTime = "to_char(nextrun, 'YYYY-MM-DD HH24:MI:SS.US')"

// turn takes the earliest task. It returns how long the loop sleeps then. One that dies leaves its mark.
func (j *joex) turn(dies bool) time.Duration {
	var t struct {
		ID, NextRun string
		Wait        float64
	}
	err := j.get(&t, `SELECT id, `+joexTime+` AS nextrun, extract(epoch FROM nextrun - clock_timestamp() AT TIME ZONE 'UTC')::float8 AS wait
		FROM periodic_task WHERE enabled ORDER BY periodic_task.nextrun LIMIT 1`)
	if err != nil {
		return time.Minute
	}
	// The subquery reads the row as it was when the statement began; what is returned is the version that was marked.
	var m struct{ Seen, Found string }
	err = j.get(&m, `UPDATE periodic_task SET worker = $2, marked = clock_timestamp() AT TIME ZONE 'UTC' WHERE id = $1 AND worker IS NULL
		RETURNING (SELECT `+joexTime+` FROM periodic_task WHERE id = $1) AS seen, `+joexTime+` AS found`, t.ID, j.name)
	if err != nil {
		return 0 // at once
	}
	old := ""
	switch {
	case m.Found != m.Seen:
		j.waited++
		old = ", waited"
	case m.Found != t.NextRun:
		j.stale++
		old = ", stale"
	}
	if dies {
		j.dead++
		return 0
	}
	wait := time.Duration(t.Wait * float64(time.Second))
	if wait <= 0 {
		j.submit(t.ID, t.NextRun, old)
	}
	j.run(`UPDATE periodic_task SET worker = NULL, nextrun = CASE WHEN timer LIKE '%*:*:*' THEN date_trunc('second', clock_timestamp() AT TIME ZONE 'UTC') + interval '1 second'
		ELSE nextrun END WHERE id = $1`, t.ID)
	return max(wait, 0)
}

// submit inserts a job unless there is one of the task that is not final.
func (j *joex) submit(id, due, old string) {
	var n int
	if err := j.get(&n, `SELECT count(*) FROM job WHERE tracker = $1 AND state IN ('waiting', 'scheduled', 'running', 'stuck')`, id); err != nil || n > 0 {
		return
	}
	if j.run(`INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress, tracker)
		SELECT gen_random_uuid(), task, group_, args, subject, clock_timestamp() AT TIME ZONE 'UTC', submitter, priority, 'waiting', 0, 0, id
		FROM periodic_task WHERE id = $1`, id) {
		j.submitted++
		j.lock.Lock()
		defer j.lock.Unlock()
		j.ticks[id+" "+due] = append(j.ticks[id+" "+due], j.name+old)
	}
}

func (j *joex) get(dest any, query string, args ...any) error {
	j.statements++
	err := j.db.Get(dest, query, args...)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		j.Error(err)
	}
	return err
}

func (j *joex) run(query string, args ...any) bool {
	j.statements++
	_, err := j.db.Exec(query, args...)
	if err != nil {
		j.Error(err)
	}
	return err == nil
}

// runs takes turns for some time. About one in 200 dies, and comes back as Docspell does.
func (j *joex) runs(until time.Time) {
	for time.Now().Before(until) {
		dies := rand.N(200) == 0
		wait := j.turn(dies)
		if dies {
			j.run(`UPDATE periodic_task SET worker = NULL WHERE worker = $1`, j.name)
		}
		elapse(min(wait, rand.N(50*time.Millisecond))) // it is notified at random
	}
}

func newRace(t *testing.T) *race {
	f := newDocspellFixture(t)
	f.exec("DELETE FROM periodic_task; DELETE FROM joblog; DELETE FROM job")
	f.exec(`INSERT INTO periodic_task (id, enabled, task, group_, args, subject, submitter, priority, timer, nextrun, created)
		SELECT 'every-' || n, true, 'housekeeping', 'g', '{}', 's', 'u', 0, '*-*-* *:*:*', date_trunc('second', now() AT TIME ZONE 'UTC'), now() FROM generate_series(1, 20) AS n`)
	return &race{fixture: f, ticks: map[string][]string{}}
}

func (r *race) joex(name string) *joex { return &joex{race: r, name: name, db: r.Connect()} }

// together lets them run, while a worker ends jobs at random.
func (r *race) together(list ...*joex) {
	until := time.Now().Add(4 * time.Second)
	var all sync.WaitGroup
	for _, j := range list {
		all.Go(func() { j.runs(until) })
	}
	for time.Now().Before(until) {
		r.exec("UPDATE job SET state = 'success', finished = now() AT TIME ZONE 'UTC' WHERE state = 'waiting' AND random() < 0.1")
		elapse(rand.N(40 * time.Millisecond))
	}
	all.Wait()
}

// doubled counts ticks with more than one job: those of which a submission came from a copy that
// was old before the mark began, and the others.
func (r *race) doubled() (stale, others int) {
	for _, who := range r.ticks {
		if len(who) < 2 {
			continue
		}
		if slices.ContainsFunc(who, func(w string) bool { return strings.HasSuffix(w, ", stale") }) {
			stale++
		} else {
			others++
			r.Logf("doubled: %q", who)
		}
	}
	return stale, others
}

// Beside Docspell no tick has two jobs, except where Docspell marks a task whose copy it had read
// before nextrun's commit: it does so beside another joex, too. Connections of nextrun are cut at random.
func TestDocspellRace(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	r.start(r.db.Periodic())
	j, stop := r.joex("joex1"), make(chan struct{})
	var killer sync.WaitGroup
	cuts := 0
	killer.Go(func() {
		cut := r.Connect()
		for {
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond): // the pace of misfortune
				var n int
				if err := cut.Get(&n, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'nextrun%' AND state <> 'idle'`); err != nil {
					t.Error(err)
				}
				cuts += n
			}
		}
	})
	r.together(j)
	close(stop)
	killer.Wait()
	for _, tick := range r.rows(`SELECT task_id || ' ' || to_char(due, 'YYYY-MM-DD HH24:MI:SS.US') FROM periodic_tick WHERE decision = 'submitted'`) {
		r.ticks[tick] = append(r.ticks[tick], "nextrun")
	}
	stale, others := r.doubled()
	t.Logf("%d connections cut; nextrun submitted %s; joex %d in %d statements, %d dead; marks of an old copy %d, after a wait %d; doubled ticks: stale %d, others %d",
		cuts, r.one("SELECT count(*) FROM periodic_tick WHERE decision = 'submitted'"), j.submitted, j.statements, j.dead, j.stale, j.waited, stale, others)
	if j.waited > 0 || others > 0 {
		t.Errorf("%d marks waited for nextrun's lock and were set, %d ticks have two jobs", j.waited, others)
	}
}

// A joex whose earliest task is an hour ahead marks it, gives it back, and sleeps.
func TestDocspellDoesNotSpin(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	r.exec("DELETE FROM periodic_task WHERE id <> 'every-1'")
	r.exec("UPDATE periodic_task SET timer = '2090-01-01 00:00:00', nextrun = now() AT TIME ZONE 'UTC' + interval '1 hour'")
	r.start(r.db.Periodic())
	j := r.joex("joex1")
	for j.statements <= 5 {
		if wait := j.turn(false); wait > 59*time.Minute {
			return
		}
	}
	t.Errorf("%d statements, and joex does not sleep", j.statements)
}

// rows are the values of a query.
func (r *race) rows(query string) (list []string) {
	r.Helper()
	if err := r.SQL.Select(&list, query); err != nil {
		r.Fatal(err)
	}
	return list
}
