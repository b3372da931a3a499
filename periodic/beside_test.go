package periodic_test

import (
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/storetest"
)

// G5 under way: ten tasks that cannot be scheduled, for whatever reason, beside
// 50 that are due every second. `make soak-isolation` runs longer, with more of them.

const (
	healthyTasks  = 50
	badTasks      = 10
	besideSeconds = 4
)

// measuring bounds the tests that measure lateness at the same time.
var measuring = make(chan struct{}, 4)

// healthy adds the tasks that nothing may disturb.
func (f *fixture) healthy() {
	f.Helper()
	measuring <- struct{}{}
	f.Cleanup(func() { <-measuring })
	f.exec(`INSERT INTO periodic_task (id, task, timer, overlap)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		SELECT 'healthy-' || i, 'backup', '*:*:*', 'allow' FROM n`, healthyTasks)
}

// bad adds tasks with an overlap policy that are due every second, too.
func (f *fixture) bad(overlap string) {
	f.Helper()
	f.exec(`INSERT INTO periodic_task (id, task, timer, overlap)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		SELECT 'bad-' || i, 'backup', '*:*:*', '`+overlap+`' FROM n`, badTasks)
}

// lateness collects how late the ticks of the healthy tasks were, and which tasks
// and sinks were set aside.
type lateness struct {
	mu    sync.Mutex
	late  []time.Duration
	aside map[string]error
	sinks []periodic.Sink
	done  chan struct{}
}

func (l *lateness) observe(e periodic.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case e.Kind == periodic.EventAside:
		l.aside[e.ID] = e.Err
	case e.Kind == periodic.EventSink && e.Err != nil:
		l.sinks = append(l.sinks, e.Sink)
	case e.Kind == periodic.EventTick && strings.HasPrefix(e.Tick.TaskID, "healthy") && e.Tick.Decision == periodic.Submitted:
		if l.late = append(l.late, time.Since(e.Tick.Due)); len(l.late) == besideSeconds*healthyTasks {
			close(l.done)
		}
	}
}

// onTime runs a scheduler until the healthy tasks have had their ticks, and fails
// if they were late.
func (f *fixture) onTime() *lateness {
	f.Helper()
	l := &lateness{aside: map[string]error{}, done: make(chan struct{})}
	stop := f.run(f.db.Periodic(), func(c *periodic.Config) { c.Observe = l.observe })
	select {
	case <-l.done:
	case <-time.After(time.Minute):
		f.Error("the healthy tasks have not had their ticks within a minute")
	}
	begun := time.Now()
	stop()
	if took := time.Since(begun); took > 3*time.Second {
		f.Errorf("the scheduler took %s to stop", took)
	}
	slices.Sort(l.late)
	if len(l.late) > 0 {
		f.Logf("lateness: median %s, maximum %s", l.late[len(l.late)/2], l.late[len(l.late)-1])
		if median := l.late[len(l.late)/2]; median > storetest.MaxLateness {
			f.Errorf("the median lateness of the healthy tasks is %s", median)
		}
	}
	f.fewMissed()
	f.want(0, "SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL")
	return l
}

// fewMissed fails if many healthy ticks were not submitted. Without isolation it
// is half of them. A busy machine may miss a second; `make soak-isolation` allows none.
func (f *fixture) fewMissed() {
	f.Helper()
	missed, err := strconv.Atoi(f.one("SELECT count(*) FROM periodic_tick WHERE task_id LIKE 'healthy%' AND decision <> 'submitted'"))
	if err != nil || missed > healthyTasks {
		f.Errorf("%d ticks of healthy tasks were not submitted (%v)", missed, err)
	}
}

// named fails unless all bad tasks were set aside, with an error that says why. On
// a busy machine a healthy one may wait too long for a lock of the database's own.
func (l *lateness) named(f *fixture, why string) {
	f.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	bad := 0
	for id, err := range l.aside {
		switch isBad := strings.HasPrefix(id, "bad-"); {
		case isBad && strings.Contains(err.Error(), why):
			bad++
		case isBad || !strings.Contains(err.Error(), "lock timeout"):
			f.Errorf("%s was set aside: %v", id, err)
		}
	}
	if bad != badTasks {
		f.Errorf("%d bad tasks were set aside, want %d", bad, badTasks)
	}
}

// open opens a transaction of a user's and runs a statement in it.
func (f *fixture) open(statement string) *sql.Tx {
	f.Helper()
	tx, err := f.Connect().Begin()
	if err != nil {
		f.Fatal(err)
	}
	if _, err := tx.Exec(statement); err != nil {
		f.Fatal(err)
	}
	return tx
}

// refuse makes the database refuse what a condition on NEW holds for.
func (f *fixture) refuse(table, event, condition, code string) {
	f.Helper()
	f.exec(map[string]string{
		"postgres": `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				RAISE EXCEPTION 'hands off' USING ERRCODE = '` + code + `'; END $$;
			CREATE TRIGGER refuse BEFORE ` + event + ` ON ` + table + ` FOR EACH ROW WHEN (` + condition + `) EXECUTE FUNCTION refuse()`,
		"sqlite": `CREATE TRIGGER refuse BEFORE ` + event + ` ON ` + table + ` WHEN ` + condition + `
			BEGIN SELECT RAISE(ABORT, 'hands off'); END`,
	}[f.Kind])
}

func (f *fixture) unrefuse(table string) {
	f.Helper()
	f.exec(map[string]string{"postgres": "DROP TRIGGER refuse ON " + table, "sqlite": "DROP TRIGGER refuse"}[f.Kind])
}
