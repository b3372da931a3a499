package tasks

import (
	"math"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/reasons"
)

// selected is the end of a query for the tasks, aliased t, that a filter selects.
func (tx taskTx) selected(f periodic.TaskFilter) (query string, args []any) {
	limit := int64(f.Limit)
	if limit <= 0 {
		limit = math.MaxInt64
	}
	due, order := periodic.Never, "t.id"
	if !f.DueBefore.IsZero() {
		due, order = f.DueBefore, "t.nextrun, t.id"
	}
	state, times := tx.inState(f.State)
	args = []any{f.Task, f.Group, f.After, limit, containing(f.Search), !f.DueBefore.IsZero(), sqldb.Timestamp(due), f.ID}
	for _, at := range times {
		args = append(args, sqldb.Timestamp(at))
	}
	return `
		WHERE ($1 = '' OR t.task = $1) AND ($2 = '' OR t.group_ = $2) AND ($3 = '' OR t.id > $3)
			AND ($5 = '' OR lower(t.id) LIKE $5 ESCAPE '\' OR lower(t.task) LIKE $5 ESCAPE '\')
			AND (NOT $6 OR t.enabled AND t.nextrun < $7 AND t.nextrun > '1970-01-01 00:00:00') AND ($8 = '' OR t.id = $8)
			AND ` + state + `
		ORDER BY ` + order + ` LIMIT $4`, args
}

// inState is a condition on a task t for its state, and the times $9 and $10 in it. What needs attention is what
// the status has a cause for that commands and pages show.
func (tx taskTx) inState(state periodic.TaskState) (condition string, times []time.Time) {
	const blocked = `(t.problem IS NOT NULL AND t.problem NOT LIKE '` + reasons.WarningPrefix + `%')`
	const paused = `(t.paused IS NOT NULL AND (t.paused_until IS NULL OR t.paused_until > $9))`
	now, late := []time.Time{tx.Now()}, tx.Now().Add(-periodic.OverdueAfter)
	switch state {
	case periodic.TaskEnabled:
		return `t.enabled AND NOT ` + blocked + ` AND NOT ` + paused, now
	case periodic.TaskDisabled:
		return `NOT t.enabled`, nil
	case periodic.TaskPaused:
		return `t.enabled AND NOT ` + blocked + ` AND ` + paused, now
	case periodic.TaskBlocked:
		return `t.enabled AND ` + blocked, nil
	case periodic.TaskProblem:
		return `t.problem IS NOT NULL`, nil
	case periodic.TaskFailed:
		return `t.enabled AND (` + afterFailures + ` OR NOT ` + paused + ` AND ` + failed + `)`, now
	case periodic.TaskAttention:
		return `t.enabled AND (t.problem IS NOT NULL OR ` + afterFailures + ` OR ` + tx.overdue("$10") + ` OR NOT ` + paused + ` AND (` + failed + ` OR ` + stale + `))`, append(now, late)
	case periodic.TaskRetrying:
		return `t.id IN (SELECT tracker FROM job WHERE state = 'stuck')`, nil
	case periodic.TaskOverdue:
		return `t.enabled AND ` + tx.overdue("$9"), []time.Time{late}
	case "":
		return `1 = 1`, nil
	}
	return `1 = 0`, nil
}

const afterFailures = `(t.paused IS NOT NULL AND t.paused_by = '` + periodic.PausedAfterFailures + `')`

// failed is a condition: of the ten newest ticks of a task, the newest one that has ended did not end well.
const failed = `coalesce((SELECT x.outcome FROM (SELECT k.due, CASE WHEN k.decision <> 'submitted' THEN k.decision ELSE k.state END AS outcome
		FROM periodic_run AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 10) AS x
	WHERE x.outcome IN ('success', 'failed', 'missed', 'late') ORDER BY x.due DESC LIMIT 1), 'success') <> 'success'`

// stale is a condition: no run of a task has succeeded in time. CASE keeps PostgreSQL from judging all tasks at once.
const stale = `CASE WHEN EXISTS (SELECT 1 FROM periodic_stale AS s WHERE s.id = t.id) THEN true ELSE false END`

// overdue is a condition: no scheduler has taken a task that was to be taken by a time.
func (tx taskTx) overdue(by string) string {
	return `(t.nextrun <= ` + by + ` AND t.since <= ` + by + ` AND NOT ` + batch.Waits + `)`
}

// containing is a pattern for LIKE of lower-case texts that contain a text; empty for
// the empty text.
func containing(text string) string {
	if text == "" {
		return ""
	}
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(text)) + "%"
}
