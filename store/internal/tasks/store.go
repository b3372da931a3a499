// Package tasks keeps the periodic tasks and their ticks, in the tables
// periodic_task and periodic_tick: for schedulers ([Store]), for
// those who manage tasks ([Tasks]), and the sink that turns ticks into jobs
// ([JobSink]).
package tasks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/store/internal/workers"
)

// Store is a database as the scheduler needs it. It implements scheduler.Store.
type Store struct {
	db     *sqldb.DB
	queues Queues
	locks  leader.Store
}

// New returns the scheduler's store of a database.
func New(db *sqldb.DB, queues Queues, locks leader.Store) Store {
	return Store{db, queues, locks}
}

// Read implements scheduler.Store.
func (s Store) Read(ctx context.Context, fn func(batch.Tx) error) error {
	return s.db.ViewWithin(ctx, sqldb.BatchLockWait, func(tx *sqldb.Tx) error { return fn(schedulerTx{tx}) })
}

// Update implements scheduler.Store. Its statements take rows as records, large ones in bursts: planning them for the
// values of a parameter costs as much as a third of the work.
func (s Store) Update(ctx context.Context, wait time.Duration, fn func(batch.Tx) error) error {
	return s.db.UpdateWithin(sqldb.Keep(ctx, sqldb.ForGood), wait, func(tx *sqldb.Tx) error { return fn(schedulerTx{tx}) })
}

// OpensEarly implements scheduler.Store.
func (s Store) OpensEarly() bool { return !s.db.SQL().IsSQLite() }

// Watch implements scheduler.Store.
func (s Store) Watch(ctx context.Context, worker string, wake func(), report func(error)) {
	workers.Watch(ctx, s.db, workers.Worker{ID: worker, Kind: "scheduler"}, wake, report, sqldb.TopicTasks)
}

// SetTrouble implements scheduler.Store.
func (s Store) SetTrouble(ctx context.Context, worker, trouble string) error {
	return workers.SetTrouble(ctx, s.db, worker, trouble)
}

// Queues implements scheduler.Store.
func (s Store) Queues(others periodic.Submitters) map[periodic.Sink]periodic.Queue {
	return s.queues.with(s.db, others)
}

// Locks implements scheduler.Store.
func (s Store) Locks() leader.Store { return s.locks }

// Fault implements scheduler.Store.
func (Store) Fault(err error) service.Fault { return sqldb.FaultOf(err) }

// canBeDue is the condition of the index nextrun_task_due.
const canBeDue = `enabled AND worker IS NULL`

// workSummary is a row of what there is to do.
type workSummary struct {
	Due    bool
	Stray  bool
	Next   sqldb.RowTime
	Marked sqldb.RowTime
	Look   sqldb.RowTime // when to ask another queue how jobs ended
}

// Poll implements scheduler.Store.
func (s Store) Poll(ctx context.Context, look batch.Look) (batch.Work, error) {
	var found workSummary
	work := batch.Work{}
	err := s.db.ViewWithin(ctx, sqldb.BatchLockWait, func(tx *sqldb.Tx) (err error) {
		work.Now = tx.Now()
		work.Asked, work.Answered = tx.Asked()
		found, err = schedulerTx{tx}.summary(ctx, look)
		return err
	})
	if err != nil {
		return batch.Work{}, fmt.Errorf("look for due tasks: %w", err)
	}
	work.Due, work.Stray = found.Due, found.Stray
	work.Next, work.Marked, work.AskEndsAt = found.Next.Time(), found.Marked.Time(), found.Look.Time()
	return work, nil
}

func (tx schedulerTx) summary(ctx context.Context, l batch.Look) (found workSummary, err error) {
	rest, args := tx.within(l.Scope, []any{sqldb.Timestamp(tx.Now())})
	due := func(when string) string {
		return `EXISTS (SELECT 1 FROM periodic_task AS t WHERE ` + canBeDue + ` AND ` + when + rest + notWaiting(l.Scope) + `)`
	}
	stray, isDue := `false`, due(`nextrun <= $1`)
	if !l.DrainedUpTo.IsZero() {
		args = append(args, sqldb.Timestamp(l.DrainedUpTo), sqldb.Timestamp(periodic.Unplanned))
		isDue = fmt.Sprintf("%s OR %s", due(fmt.Sprintf("nextrun <= $%d", len(args))), due(fmt.Sprintf("nextrun > $%d AND nextrun <= $1", len(args)-1)))
	} else if l.Sinks != nil {
		args = append(args, sqldb.Timestamp(tx.Now().Add(-l.StrayAfter)), sqldb.Timestamp(periodic.Unplanned))
		old, unplanned := fmt.Sprintf("$%d", len(args)-1), fmt.Sprintf("$%d", len(args))
		stray = `EXISTS (SELECT 1 FROM periodic_task WHERE ` + strings.NewReplacer("$1", old, "$2", unplanned).Replace(isStray) +
			`(` + placeholders(&args, l.Sinks) + `)))`
	}
	look := `NULL`
	if len(l.Ask) > 0 {
		look = `(SELECT min(s.look) FROM (` + turns(&args, l.Ask) + `) AS s)`
	}
	err = tx.First(ctx, &found, `SELECT
		`+isDue+` AS due,
		(SELECT min(nextrun) FROM periodic_task AS t WHERE `+canBeDue+` AND nextrun > $1`+rest+`) AS next,
		`+stray+` AS stray, `+look+` AS look,
		(SELECT `+marked+` FROM periodic_task WHERE worker IS NOT NULL ORDER BY marked LIMIT 1) AS marked`,
		args...)
	return found, err
}

// schedulerTx is a transaction of the scheduler.
type schedulerTx struct {
	*sqldb.Tx
}

// marked is when a task was marked. What no scheduler writes has expired.
const marked = `CASE WHEN marked >= '1970-01-01 00:00:00' AND marked < '9999-12-31 00:00:00' THEN marked ELSE '1970-01-01 00:00:00' END`

// ClearMarks finds the marks of a name by what stands in front of the boot id in a
// [service.WorkerID].
func (tx schedulerTx) ClearMarks(ctx context.Context, lease time.Duration, name string) (int, error) {
	n, err := tx.Exec(ctx, `UPDATE periodic_task SET worker = NULL, marked = NULL WHERE id IN (
			SELECT id FROM periodic_task WHERE worker IS NOT NULL AND (
				marked IS NULL OR marked < $1 OR marked > $2
				OR ($3 <> '' AND (worker = $3 OR substr(worker, 1, length($4)) = $4)))`+
		tx.SQL().ForUpdate+`)`,
		sqldb.Timestamp(tx.Now().Add(-lease)), sqldb.Timestamp(tx.Now().Add(lease)), name, service.WorkerName(name)+service.BootMark)
	return int(n), err
}
