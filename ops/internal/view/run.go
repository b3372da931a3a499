package view

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
)

// Reader reads figures of a database. It is safe for concurrent use.
type Reader struct{ db *sqldb.DB }

// Of returns the reader of a database.
func Of(db sqldb.Opened) Reader { return Reader{sqldb.Of(db)} }

// read reads in one transaction, one after another. An error says what was attempted.
func (r Reader) read(ctx context.Context, what string, reads ...func(context.Context, *sqldb.Tx) error) error {
	err := r.db.View(ctx, func(tx *sqldb.Tx) error {
		for _, one := range reads {
			if err := one(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Run is a tick that was decided, and what became of its job or event: a row of the view periodic_run.
type Run struct {
	TaskID   string
	Due      time.Time
	Until    time.Time // of ticks that were missed together the newest
	Decision periodic.Decision
	Cause    periodic.Cause
	Reason   string
	Missed   int    // number of missed ticks; -1: more than 10,000
	JID      string // the job or event that it became
	Worker   string // the scheduler that decided
	Decided  time.Time

	State      string // of the job; of an event pending, success or failed; empty: there is none, or nobody knows
	Submitted  time.Time
	Started    time.Time // the job's last attempt
	Finished   time.Time
	Attempts   int
	Interrupts int    // how often its executor stopped, died or lost it
	Executor   string // that has its job, or had it last; of nextrun's own queue
	Result     string // what the job said at its end, its first 300 characters
}

// Own reports whether the job is in nextrun's own queue.
func (r *Run) Own() bool { return !r.Submitted.IsZero() }

// Outcome is the state of the job or event if it is known, otherwise the decision.
func (r *Run) Outcome() string {
	if r.State != "" {
		return r.State
	}
	return string(r.Decision)
}

// Took is how long the last attempt took; 0: it has not ended, or nobody knows.
func (r *Run) Took() time.Duration {
	if r.Started.IsZero() || r.Finished.IsZero() {
		return 0
	}
	return r.Finished.Sub(r.Started)
}

// RunColumns are the columns of the view periodic_run that a [Run] holds.
func RunColumns() []column.Column[Run] {
	return []column.Column[Run]{
		{Name: "task_id", Field: column.TextIn(func(r *Run) *string { return &r.TaskID })},
		{Name: "due", Field: column.TimeIn(func(r *Run) *time.Time { return &r.Due })},
		{Name: "decision", Field: column.TextIn(func(r *Run) *periodic.Decision { return &r.Decision })},
		{Name: "cause", Field: column.TextOrNull(func(r *Run) *periodic.Cause { return &r.Cause })},
		{Name: "reason", Field: column.TextOrNull(func(r *Run) *string { return &r.Reason })},
		{Name: "missed", Field: column.NumberIn(func(r *Run) *int { return &r.Missed })},
		{Name: "until", Field: column.TimeIn(func(r *Run) *time.Time { return &r.Until })},
		{Name: "jid", Field: column.TextOrNull(func(r *Run) *string { return &r.JID })},
		{Name: "worker", Field: column.TextOrNull(func(r *Run) *string { return &r.Worker })},
		{Name: "decided", Field: column.TimeIn(func(r *Run) *time.Time { return &r.Decided })},
		{Name: "state", Field: column.In(column.Text, func(r *Run) *string { return &r.State },
			func(s string, v *column.Value) { v.Null, v.Text = s == "", jobqueue.State(s).Word() },
			func(v column.Value) string { return v.Text })},
		{Name: "submitted", Field: column.TimeIn(func(r *Run) *time.Time { return &r.Submitted })},
		{Name: "started", Field: column.TimeIn(func(r *Run) *time.Time { return &r.Started })},
		{Name: "finished", Field: column.TimeIn(func(r *Run) *time.Time { return &r.Finished })},
		{Name: "attempts", Field: column.CountOrNull(func(r *Run) *int { return &r.Attempts })},
		{Name: "interrupts", Field: column.CountOrNull(func(r *Run) *int { return &r.Interrupts })},
		{Name: "result", Field: column.TextOrNull(func(r *Run) *string { return &r.Result })},
		{Name: "executor", Field: column.TextOrNull(func(r *Run) *string { return &r.Executor })},
	}
}

// selectRuns reads the runs k that the rest of a query yields.
func selectRuns(ctx context.Context, tx *sqldb.Tx, with, rest string, args ...any) ([]Run, error) {
	columns := RunColumns()
	names := strings.Replace(column.Names("k.", columns), "k.result", "substr(k.result, 1, 300)", 1)
	return sqldb.Rows(ctx, tx, columns, with+" SELECT "+names+" "+rest, args...)
}

// Newest reads the n newest runs of each of these tasks that were due before a time, n being 1 or more.
func (r Reader) Newest(ctx context.Context, ids []string, n int, before time.Time) (map[string][]Run, error) {
	of := make(map[string][]Run, len(ids))
	return of, r.read(ctx, "read the newest runs", func(ctx context.Context, tx *sqldb.Tx) error {
		list, err := readNewest(ctx, tx, ids, n, before)
		for i := range list {
			of[list[i].TaskID] = append(of[list[i].TaskID], list[i])
		}
		return err
	})
}

// newestOf selects the tasks in a list, each with when the oldest of its newest $2 + 1 ticks before $3 was due.
func newestOf(asked string) string {
	return `SELECT v.value AS id, coalesce((SELECT l.due FROM periodic_tick AS l WHERE l.task_id = v.value AND l.due < $3 AND l.decided IS NOT NULL
		ORDER BY l.due DESC LIMIT 1 OFFSET $2), '0001-01-01 00:00:00.000000') AS oldest FROM ` + asked + ` AS v`
}

func readNewest(ctx context.Context, tx *sqldb.Tx, ids []string, n int, before time.Time) ([]Run, error) {
	asked := tx.Texts(1, ids)
	return selectRuns(ctx, tx, "WITH t AS MATERIALIZED ("+newestOf(asked.SQL)+")", `FROM t JOIN periodic_run AS k ON k.task_id = t.id AND k.due >= t.oldest AND k.due < $3
		ORDER BY k.task_id, k.due DESC`, asked.Param, max(n, 1)-1, sqldb.Timestamp(before))
}

// Of reads the runs of ticks, in their order.
func (r Reader) Of(ctx context.Context, ticks []periodic.TickKey) (list []Run, err error) {
	err = r.read(ctx, "read what became of ticks", func(ctx context.Context, tx *sqldb.Tx) (err error) {
		list, err = readOf(ctx, tx, ticks)
		return err
	})
	return list, err
}

func readOf(ctx context.Context, tx *sqldb.Tx, ticks []periodic.TickKey) ([]Run, error) {
	if len(ticks) == 0 {
		return nil, nil
	}
	asked := tx.DB().Records(1, []sqldb.Field{sqldb.Int("n"), sqldb.Text("id"), sqldb.Time("at")}, len(ticks),
		func(i int) []any { return []any{i, ticks[i].TaskID, ticks[i].Due} })
	return selectRuns(ctx, tx, "", `FROM `+asked.SQL+` AS v JOIN periodic_run AS k ON k.task_id = v.id AND k.due = v.at ORDER BY v.n`, asked.Param)
}

// List reads the runs that a filter selects, the latest first.
func (r Reader) List(ctx context.Context, tasks *periodic.Tasks, filter periodic.TickFilter) ([]Run, error) {
	ticks, err := tasks.Ticks(ctx, filter)
	if err != nil {
		return nil, err
	}
	keys := make([]periodic.TickKey, len(ticks))
	for i := range ticks {
		keys[i] = ticks[i].Key()
	}
	return r.Of(ctx, keys)
}

// Losses are ticks of a task that did not run because a job of the task had not ended.
type Losses struct {
	Lost int
	Of   int // the newest ticks, at most [LossTicks], of the last [LossDays] days
}

// How many of the newest ticks [Losses] are counted among, and of how many days.
const (
	LossTicks = 1000
	LossDays  = 30
)

// lostByOverlap are the causes of ticks that were lost by overlap, in SQL.
const lostByOverlap = `('` + string(periodic.CauseOverlap) + `', '` + string(periodic.CauseWaited) + `', '` + string(periodic.CauseSuperseded) + `')`

// Losing are the tasks that have lost ticks by overlap in the last [LossDays] days, at most so many: those that lost most first.
func (r Reader) Losing(ctx context.Context, most int) (ids []string, err error) {
	err = r.read(ctx, "find the tasks that lose ticks by overlap", func(ctx context.Context, tx *sqldb.Tx) error {
		with, ticks, where := batch.TicksSince("$1", tx.SQL().IsSQLite())
		return tx.Select(ctx, &ids, with+`SELECT k.task_id FROM `+ticks+` WHERE k.cause IN `+lostByOverlap+` AND `+where+`
			GROUP BY k.task_id ORDER BY count(*) DESC, k.task_id LIMIT $2`, sqldb.Timestamp(tx.Now().AddDate(0, 0, -LossDays)), most)
	})
	return ids, err
}

// Losses counts what each of these tasks has lost by overlap.
func (r Reader) Losses(ctx context.Context, ids []string) (map[string]Losses, error) {
	of := make(map[string]Losses, len(ids))
	return of, r.read(ctx, "count what tasks lose by overlap", func(ctx context.Context, tx *sqldb.Tx) error {
		asked := tx.Texts(1, ids)
		var rows []struct {
			ID        string
			Lost, All int
		}
		err := tx.Select(ctx, &rows, `WITH t AS MATERIALIZED (`+newestOf(asked.SQL)+`)
			SELECT k.task_id AS id, count(CASE WHEN k.cause IN `+lostByOverlap+` THEN 1 END) AS lost, count(*) AS "all"
			FROM t JOIN periodic_tick AS k ON k.task_id = t.id AND k.due >= t.oldest AND k.due >= $4 AND k.due < $3 AND k.decided IS NOT NULL GROUP BY k.task_id`,
			asked.Param, LossTicks-1, sqldb.Timestamp(periodic.Never), sqldb.Timestamp(tx.Now().AddDate(0, 0, -LossDays)))
		for _, row := range rows {
			of[row.ID] = Losses{row.Lost, row.All}
		}
		return err
	})
}
