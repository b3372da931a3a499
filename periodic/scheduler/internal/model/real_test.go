package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/store"
)

// served is a database on which the actions of the model are done, too.
type served struct {
	*storetest.Database
	db        *store.DB
	now       time.Time
	processes map[string]*process // by their id
	queues    periodic.Submitters
}

// process is a scheduler process that works on it.
type process struct {
	batch  batch.Batch
	commit batch.Processor
	fence  leader.Fence
}

func newReal(d *migrated.Database) *served {
	r := &served{Database: d.Database, queues: periodic.Submitters{otherSink: otherQueue{}}}
	options := store.Options{Clock: func() time.Time { return r.now }, ConnectTimeout: storetest.Patience, IdleTimeout: sqldb.DefaultStatementTimeout}
	db, err := store.Open(d.Context(), d.URL, options)
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = db.Close() })
	r.db = db
	r.Exec(`CREATE TABLE other_queue (jid text PRIMARY KEY, tracker text, due timestamp, state text)`)
	return r
}

var tableNames = []string{"periodic_task", "job", "periodic_open", "periodic_tick", "other_queue"}

// begin fills the tables with the first state of a scene.
func (r *served) begin(w *world) {
	for _, table := range tableNames {
		r.Exec(`DELETE FROM ` + table)
	}
	r.Exec(`DELETE FROM scheduler_lock`)
	r.now, r.processes = at(w.now), map[string]*process{}
	for _, t := range w.initial {
		r.insert(t)
		r.Exec(`UPDATE periodic_task SET due = ?, nextrun = ? WHERE id = ?`, utc(t.Due), utc(t.NextRun), t.ID)
	}
}

func (r *served) insert(t periodic.Task) {
	var deadline, ends any
	if !t.Ends.IsZero() {
		ends = utc(t.Ends)
	}
	if t.Deadline != nil {
		deadline = int(t.Deadline.Seconds())
	}
	r.Exec(`INSERT INTO periodic_task (id, task, timer, overlap, catchup, deadline, ends, sink, args) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '{}')`,
		t.ID, t.Task, t.Timer, string(t.Overlap), string(t.Catchup), deadline, ends, string(t.Sink))
}

func utc(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000") }

// process returns the process of an instance.
func (r *served) process(i *instance) *process {
	id := i.id()
	if r.processes[id] == nil {
		p := &process{}
		led, queues := i.led, r.queues
		if !i.others {
			queues = nil // only so does one statement submit
		}
		db := r.db.Periodic()
		p.commit = batch.New("", func(ctx context.Context, wait time.Duration, fn func(batch.Tx) error) error {
			return db.Update(ctx, wait, func(tx batch.Tx) error {
				if led {
					if err := db.Locks().Guard(ctx, tx.DBTX(), p.fence); err != nil {
						return err
					}
				}
				return fn(tx)
			})
		}, db.Read, db.Queues(queues))
		r.processes[id] = p
	}
	return r.processes[id]
}

// do does on the database what a process has just done in the model.
func (r *served) do(before *instance, kind string) error {
	p := r.process(before)
	read, err := perform(r.Context(), p.commit, kind, p.batch)
	return p.took(kind, read, err)
}

// took notes what a transaction has brought. Of some errors the model has had the same, or the rows will differ.
func (p *process) took(kind string, read batch.Batch, err error) error {
	var early *batch.EarlyError
	var later batch.LaterError
	if errors.As(err, &early) || errors.As(err, &later) || errors.Is(err, leader.ErrLost) {
		return nil
	}
	if kind != submit {
		p.batch = read
	}
	return err
}

// clear removes expired marks, and those of a name.
func (r *served) clear(update func(context.Context, time.Duration, func(batch.Tx) error) error, name string) error {
	return update(r.Context(), batch.LockTimeout, func(tx batch.Tx) error {
		_, err := tx.ClearMarks(r.Context(), lease, name)
		return err
	})
}

// mark does what Docspell has done to a mark.
func (r *served) mark(id string, next *world) error {
	n := slices.IndexFunc(next.tables.tasks, func(t row) bool { return t.ID == id })
	var worker, marked any
	if t := next.tables.tasks[n]; t.Worker != "" {
		worker, marked = t.Worker, utc(t.Marked)
	}
	r.Exec(`UPDATE periodic_task SET worker = ?, marked = ?, nextrun = ? WHERE id = ?`, worker, marked, utc(next.tables.tasks[n].NextRun), id)
	return nil
}

// serverFails keeps the rows as a standby does that falls behind or, later, puts them in the place
// of those that are there, without the triggers. That writes them anew, as another server would.
func (r *served) serverFails(next *world) error {
	if next.standby == nil {
		for n := range next.instances {
			if i := &next.instances[n]; i.held == nil {
				r.process(i).batch = batch.Batch{}
			}
		}
	}
	tx := r.SQL.MustBegin()
	tx.MustExec(`SET LOCAL session_replication_role = replica`)
	for _, table := range append(tableNames, "scheduler_lock") {
		if next.standby != nil {
			tx.MustExec(`DROP TABLE IF EXISTS standby_` + table)
			tx.MustExec(`CREATE TABLE standby_` + table + ` AS SELECT * FROM ` + table)
		} else {
			tx.MustExec(`DELETE FROM ` + table)
			tx.MustExec(`INSERT INTO ` + table + ` OVERRIDING SYSTEM VALUE SELECT * FROM standby_` + table)
		}
	}
	return tx.Commit()
}

// acquire takes the lock.
func (r *served) acquire(i *instance, token int) error {
	claim := leader.Claim{Fence: leader.Fence{Lock: "nextrun", Holder: i.id(), Token: int64(token)}, TTL: ttl * unit}
	l, err := r.db.Periodic().Locks().Take(r.Context(), claim)
	if err == nil && l.Fence() != claim.Fence {
		err = fmt.Errorf("%s does not get the lock, which %s has until %s", i.id(), l.Holder, l.Expires)
	}
	r.process(i).fence = claim.Fence
	return err
}

// rows are the committed rows as text, to compare with those of the model.
func (r *served) rows() string {
	bools := func(column string) string { return `CASE WHEN ` + column + ` THEN 'true' ELSE 'false' END` }
	text := func(column string) string { return `coalesce(CAST(` + column + ` AS text), '-')` }
	var all []string
	for _, q := range []string{
		`SELECT 'task ' || id || ' ' || ` + bools("enabled") + ` || ' ' || coalesce(worker, '-') || ' due ' || ` + text("due") + ` || ' nextrun ' || ` + text("nextrun") +
			` || ' ' || timer || ' ' || overlap || ' ' || sink || ' paused ' || ` + bools("paused IS NOT NULL") + ` FROM periodic_task`,
		`SELECT 'tick ' || task_id || ' ' || ` + text("due") + ` || ' ' || decision || ' until ' || ` + text("until") + ` || ' job ' || ` + bools("jid IS NOT NULL") + ` || ' decided ' || ` + bools("decided IS NOT NULL") + ` FROM periodic_tick`,
		`SELECT 'job ' || tracker || ' ' || ` + text("due") + ` || ' ' || state || ' asked ' || ` + bools("cancel IS NOT NULL AND state = 'running'") + ` FROM job`,
		`SELECT 'other job ' || tracker || ' ' || ` + text("due") + ` || ' ' || state FROM other_queue`,
		`SELECT 'open ' || task_id || ' ' || ` + text("due") + ` FROM periodic_open`,
	} {
		var list []string
		if err := r.SQL.Select(&list, q); err != nil {
			r.Fatal(q, err)
		}
		all = append(all, list...)
	}
	for i := range all {
		all[i] = strings.ReplaceAll(all[i], ".000000", "")
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// rowsText are the committed rows of the model in the same form.
func (w *world) rowsText() string {
	time := func(t time.Time) string {
		if t.IsZero() {
			return "-"
		}
		return t.UTC().Format("2006-01-02 15:04:05")
	}
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, r := range w.tables.tasks {
		add("task %s %v %s due %s nextrun %s %s %s %s paused %v", r.ID, r.Enabled, cmp.Or(r.Worker, "-"), time(r.Due), time(r.NextRun), r.Timer, r.Overlap, r.Sink, !r.Pause.Since.IsZero())
	}
	for _, k := range w.tables.ticks {
		add("tick %s %s %s until %s job %v decided %v", k.TaskID, time(k.Due), k.Decision, time(k.Until), k.JID != "", !k.Decided.IsZero())
	}
	for _, j := range w.tables.jobs {
		if j.other {
			add("other job %s %s %s", j.tracker, time(j.due), j.state)
		} else {
			add("job %s %s %s asked %v", j.tracker, time(j.due), j.state, j.asked && j.state == jobqueue.Running)
		}
	}
	for _, o := range w.tables.open {
		add("open %s %s", o.task, time(o.due))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// tasks are the tasks for a user's Go program.
func (r *served) tasks() *periodic.Tasks { return periodic.NewTasks(r.db.Tasks()).With(r.queues) }
