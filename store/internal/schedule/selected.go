package schedule

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// selected is the end of a query for the tasks, aliased t, that a filter selects.
func (tx taskTx) selected(ctx context.Context, f periodic.TaskFilter) (query string, args []any, err error) {
	hasJobs := false
	switch f.State {
	case periodic.TaskFailed, periodic.TaskAttention, periodic.TaskRetrying:
		if hasJobs, err = tx.HasJobs(ctx); err != nil {
			return "", nil, err
		}
	}
	limit := int64(f.Limit)
	if limit <= 0 {
		limit = math.MaxInt64
	}
	due, order := periodic.Never, "t.id"
	if !f.DueBefore.IsZero() {
		due, order = f.DueBefore, "t.nextrun, t.id"
	}
	state, at := tx.inState(f.State, hasJobs)
	args = []any{f.Task, f.Group, f.After, limit, containing(f.Search), !f.DueBefore.IsZero(), sqldb.Timestamp(due), f.ID}
	if !at.IsZero() {
		args = append(args, sqldb.Timestamp(at))
	}
	return `
		WHERE ($1 = '' OR t.task = $1) AND ($2 = '' OR t.group_ = $2) AND ($3 = '' OR t.id > $3)
			AND ($5 = '' OR lower(t.id) LIKE $5 ESCAPE '\' OR lower(t.task) LIKE $5 ESCAPE '\')
			AND (NOT $6 OR t.enabled AND t.nextrun < $7 AND t.nextrun > '1970-01-01 00:00:00') AND ($8 = '' OR t.id = $8)
			AND ` + state + `
		ORDER BY ` + order + ` LIMIT $4`, args, nil
}

// inState is a condition on a task t for its state, and the time $9 in it, unless it has none.
func (tx taskTx) inState(state periodic.TaskState, hasJobs bool) (condition string, at time.Time) {
	const paused = `(t.paused IS NOT NULL AND (t.paused_until IS NULL OR t.paused_until > $9))`
	switch state {
	case periodic.TaskEnabled:
		return `t.enabled AND NOT ` + paused, tx.Now()
	case periodic.TaskDisabled:
		return `NOT t.enabled`, at
	case periodic.TaskPaused:
		return `t.enabled AND ` + paused, tx.Now()
	case periodic.TaskProblem:
		return `t.problem IS NOT NULL`, at
	case periodic.TaskFailed:
		return `t.enabled AND ` + failed(hasJobs), at
	case periodic.TaskAttention:
		return `t.enabled AND (t.problem IS NOT NULL OR ` + failed(hasJobs) + ` OR t.id IN (SELECT f.task_id FROM periodic_tick AS f
			WHERE f.finish_look IS NOT NULL AND f.finish IN ('at risk', 'late')))`, at
	case periodic.TaskRetrying:
		if hasJobs {
			return `t.id IN (SELECT tracker FROM job WHERE state = 'stuck')`, at
		}
	case periodic.TaskOverdue:
		return `t.enabled AND t.nextrun <= $9 AND t.created <= $9`, tx.Now().Add(-periodic.OverdueAfter)
	case "":
		return `1 = 1`, at
	}
	return `1 = 0`, at
}

// failed is a condition: a task is paused after failures, or of its five newest ticks, the newest one
// that has ended did not end well.
func failed(hasJobs bool) string {
	const told = "CASE k.outcome WHEN 'gone' THEN 'success' ELSE k.outcome END"
	state, join := told, ""
	if hasJobs {
		state, join = "coalesce(j.state, "+told+")", " LEFT JOIN job AS j ON j.jid = k.jid"
	}
	return `(t.paused IS NOT NULL AND t.paused_by = '` + periodic.PausedAfterFailures + `' OR coalesce((SELECT x.state FROM (
			SELECT k.due, CASE WHEN k.decision <> 'submitted' THEN k.decision WHEN m.dead IS NOT NULL THEN 'failed'
					WHEN m.published IS NOT NULL THEN 'success' ELSE ` + state + ` END AS state
			FROM periodic_tick AS k` + join + ` LEFT JOIN outbox_message AS m ON t.sink = 'event' AND m.event_id = k.jid
			WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 5) AS x
		WHERE x.state IN ('success', 'failed', 'missed', 'late') ORDER BY x.due DESC LIMIT 1), 'success') <> 'success')`
}

// containing is a pattern for LIKE of lower-case texts that contain a text; empty for
// the empty text.
func containing(text string) string {
	if text == "" {
		return ""
	}
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(text)) + "%"
}
