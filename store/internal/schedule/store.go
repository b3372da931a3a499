// Package schedule keeps the periodic tasks and their ticks, in the tables
// periodic_task, periodic_tick and periodic_ready: for schedulers ([Store]), for
// those who manage tasks ([Tasks]), and the sink that turns ticks into jobs
// ([JobSink]).
package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/leader"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/internal/workers"
)

// Store is a database as the scheduler needs it. It implements [taskdb.Store].
type Store struct {
	db     *sqldb.DB
	queues Queues
	locks  leader.Store
}

var _ taskdb.Store = Store{}

// New returns the scheduler's store of a database.
func New(db *sqldb.DB, queues Queues, locks leader.Store) Store {
	return Store{db, queues, locks}
}

// Update implements [taskdb.Store].
func (s Store) Update(ctx context.Context, wait time.Duration, fn func(taskdb.Tx) error) error {
	return s.db.UpdateWithin(ctx, wait, func(tx *sqldb.Tx) error { return fn(schedulerTx{tx}) })
}

// OpensEarly implements [taskdb.Store].
func (s Store) OpensEarly() bool { return !s.db.SQL().IsSQLite() }

// Watch implements [taskdb.Store].
func (s Store) Watch(ctx context.Context, worker string, sinks []periodic.Sink, wake func(), report func(error)) {
	known, _ := json.Marshal(sinks) // of texts
	workers.Watch(ctx, s.db, workers.Worker{ID: worker, Kind: "scheduler", OnlyGroups: string(known)}, wake, report, sqldb.TopicTasks)
}

// Precedes implements [taskdb.Store]. Schedulers in the modes leader and exclusive publish no
// sinks.
func (s Store) Precedes(ctx context.Context, worker string, sinks []periodic.Sink) (bool, error) {
	var rows []struct {
		ID      string
		Started sqldb.RowTime
		Known   sqldb.RowText `db:"only_groups"`
		Working bool
	}
	err := s.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &rows, "SELECT id, started, only_groups, trouble IS NULL AND seen >= $1 AS working FROM worker WHERE kind = 'scheduler' ORDER BY started, id",
			sqldb.Timestamp(tx.Now().Add(-time.Minute)))
	})
	for _, r := range rows {
		var known []periodic.Sink
		if r.ID == worker {
			break
		}
		if !r.Working || json.Unmarshal([]byte(r.Known), &known) != nil {
			continue
		}
		if !slices.ContainsFunc(sinks, func(sink periodic.Sink) bool { return !slices.Contains(known, sink) }) {
			return true, nil
		}
	}
	return false, err
}

// SetTrouble implements [taskdb.Store].
func (s Store) SetTrouble(ctx context.Context, worker, trouble string) error {
	return workers.SetTrouble(ctx, s.db, worker, trouble)
}

// Queues implements [taskdb.Store].
func (s Store) Queues(others periodic.Submitters) map[periodic.Sink]periodic.Queue {
	return s.queues.with(s.db, others)
}

// Locks implements [taskdb.Store].
func (s Store) Locks() leader.Store { return s.locks }

// Fault implements [taskdb.Store]. While periodic_tick is changed by a
// migration, no task is to blame for a wait that was too long.
func (s Store) Fault(err error) taskdb.Fault {
	switch {
	case errors.Is(err, sqldb.ErrContended) && sqldb.Occupied(s.db, "periodic_tick"):
		return taskdb.FaultDatabase
	case errors.Is(err, sqldb.ErrContended):
		return taskdb.FaultLock
	case errors.Is(err, sqldb.ErrBusy), errors.Is(err, sqldb.ErrUnavailable),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return taskdb.FaultDatabase
	case errors.Is(err, sqldb.ErrRefused):
		return taskdb.FaultRow
	}
	return taskdb.FaultUnknown
}

// canBeClaimed is the condition of the index nextrun_task_due.
const canBeClaimed = `enabled AND worker IS NULL`

// workSummary is a row of what there is to do.
type workSummary struct {
	Due     bool
	Ready   bool
	Open    bool
	Stray   bool
	Next    sqldb.RowTime
	Resumes sqldb.RowTime // when the next pause ends by itself
	Marked  sqldb.RowTime
	Look    sqldb.RowTime // when to ask another queue how jobs ended
}

// Poll reads no table of jobs, which somebody may have locked.
func (s Store) Poll(ctx context.Context, exclude taskdb.Exclude) (taskdb.Work, error) {
	var found workSummary
	peek := taskdb.Work{}
	err := s.db.ViewWithin(ctx, sqldb.BatchLockWait, func(tx *sqldb.Tx) (err error) {
		peek.Now = tx.Now()
		peek.Asked, peek.Answered = tx.Asked()
		if found, err = (schedulerTx{tx}).summary(ctx, exclude); err == nil && len(exclude.IDs) > 0 {
			peek.Versions, err = schedulerTx{tx}.versions(ctx, exclude.IDs)
		}
		return err
	})
	if err != nil {
		return taskdb.Work{}, fmt.Errorf("look for due tasks: %w", err)
	}
	peek.Due, peek.Ready, peek.Open, peek.Stray = found.Due, found.Ready, found.Open, found.Stray
	peek.Next, peek.Marked, peek.AskEndsAt = found.Next.Time(), found.Marked.Time(), found.Look.Time()
	if resumes := found.Resumes.Time(); found.Ready && !resumes.IsZero() && (peek.Next.IsZero() || resumes.Before(peek.Next)) {
		peek.Next = resumes // a queued tick may wait for the end of the pause
	}
	return peek, nil
}

func (tx schedulerTx) summary(ctx context.Context, exclude taskdb.Exclude) (found workSummary, err error) {
	args := []any{sqldb.Timestamp(tx.Now())}
	rest, args, err := excluding(tx.Tx, exclude, args)
	if err != nil {
		return found, err
	}
	ready := `EXISTS (SELECT 1 FROM periodic_ready)`
	if exclude.Queued {
		ready = `false`
	}
	due := func(when string) string {
		return `EXISTS (SELECT 1 FROM periodic_task WHERE ` + canBeClaimed + ` AND ` + when + rest("") + `)`
	}
	stray, isDue := `false`, due(`nextrun <= $1`)
	if !exclude.NextRunAfter.IsZero() {
		args = append(args, sqldb.Timestamp(exclude.NextRunAfter), sqldb.Timestamp(periodic.Unplanned))
		isDue = fmt.Sprintf("%s OR %s", due(fmt.Sprintf("nextrun <= $%d", len(args))), due(fmt.Sprintf("nextrun > $%d AND nextrun <= $1", len(args)-1)))
	} else if exclude.OnlySinks != nil {
		args = append(args, sqldb.Timestamp(tx.Now().Add(-strayAfter)), sqldb.Timestamp(periodic.Unplanned))
		old, unplanned := fmt.Sprintf("$%d", len(args)-1), fmt.Sprintf("$%d", len(args))
		stray = `EXISTS (SELECT 1 FROM periodic_task WHERE ` + strings.NewReplacer("$1", old, "$2", unplanned).Replace(isStray) +
			`(` + placeholders(&args, exclude.OnlySinks) + `))`
	}
	look := `NULL`
	if len(exclude.Tell) > 0 {
		look = `(SELECT min(s.look) FROM (` + turns(&args, exclude.Tell) + `) AS s)`
	}
	err = tx.First(ctx, &found, `SELECT
		`+isDue+` AS due,
		(SELECT min(nextrun) FROM periodic_task WHERE `+canBeClaimed+` AND nextrun > $1`+rest("")+`) AS next,
		(SELECT min(paused_until) FROM periodic_task WHERE paused IS NOT NULL AND paused_until > $1) AS resumes,
		`+ready+` AS ready, EXISTS (SELECT 1 FROM periodic_open) AS open, `+stray+` AS stray, `+look+` AS look,
		(SELECT min(`+marked+`) FROM periodic_task WHERE worker IS NOT NULL) AS marked`,
		args...)
	return found, err
}

// schedulerTx is a transaction of the scheduler.
type schedulerTx struct {
	*sqldb.Tx
}
