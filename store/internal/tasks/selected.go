package tasks

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/attention"
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
	state, at := tx.inState(f.State)
	args = []any{f.Task, f.Group, f.After, limit, containing(f.Search), !f.DueBefore.IsZero(), sqldb.Timestamp(due), f.ID}
	if !at.IsZero() {
		args = append(args, sqldb.Timestamp(at))
	}
	return `
		WHERE ($1 = '' OR t.task = $1) AND ($2 = '' OR t.group_ = $2) AND ($3 = '' OR t.id > $3)
			AND ($5 = '' OR lower(t.id) LIKE $5 ESCAPE '\' OR lower(t.task) LIKE $5 ESCAPE '\')
			AND (NOT $6 OR t.enabled AND t.nextrun < $7 AND t.nextrun > '1970-01-01 00:00:00') AND ($8 = '' OR t.id = $8)
			AND ` + state + `
		ORDER BY ` + order + ` LIMIT $4`, args
}

// inState is a condition on a task t for its state, and the time $9 in it, unless it has none.
func (tx taskTx) inState(state periodic.TaskState) (condition string, at time.Time) {
	const blocked = `(t.problem IS NOT NULL AND t.problem NOT LIKE '` + reasons.WarningPrefix + `%')`
	const paused = `(t.paused IS NOT NULL AND (t.paused_until IS NULL OR t.paused_until > $9))`
	switch state {
	case periodic.TaskEnabled:
		return `t.enabled AND NOT ` + blocked + ` AND NOT ` + paused, tx.Now()
	case periodic.TaskDisabled:
		return `NOT t.enabled`, at
	case periodic.TaskPaused:
		return `t.enabled AND NOT ` + blocked + ` AND ` + paused, tx.Now()
	case periodic.TaskBlocked:
		return `t.enabled AND ` + blocked, at
	case periodic.TaskProblem:
		return `t.problem IS NOT NULL`, at
	case periodic.TaskFailed:
		return `t.enabled AND ` + failed, at
	case periodic.TaskAttention:
		return `t.enabled AND (t.problem IS NOT NULL OR ` + troubled() + `)`, at
	case periodic.TaskRetrying:
		return `t.id IN (SELECT tracker FROM job WHERE state = 'stuck')`, at
	case periodic.TaskOverdue:
		return `t.enabled AND t.nextrun <= $9 AND t.created <= $9 AND NOT ` + sqldb.Waits, tx.Now().Add(-periodic.OverdueAfter)
	case "":
		return `1 = 1`, at
	}
	return `1 = 0`, at
}

// endedBadly are the states of ticks that did not end well.
const endedBadly = "('failed', 'missed', 'late')"

// newest are the newest ticks of a task t, with their states as attention.State has them.
func newest(ticks int) string {
	overlap := "k.reason LIKE '" + strings.Join(attention.Pending, "%' OR k.reason LIKE '") + "%'"
	return fmt.Sprintf(`(SELECT k.due, CASE WHEN k.decision = 'skipped' AND (%s) THEN '%s' WHEN k.decision <> 'submitted' THEN k.decision ELSE k.state END AS state
			FROM periodic_run AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT %d)`, overlap, attention.Skipped, ticks)
}

const afterFailures = `(t.paused IS NOT NULL AND t.paused_by = '` + periodic.PausedAfterFailures + `')`

// failed is a condition: a task is paused after failures, or of its five newest ticks, the newest one
// that has ended did not end well.
var failed = `(` + afterFailures + ` OR ` + lastFailed + `)`

var lastFailed = `coalesce((SELECT x.state FROM ` + newest(5) + ` AS x
		WHERE x.state = 'success' OR x.state IN ` + endedBadly + ` ORDER BY x.due DESC LIMIT 1), 'success') <> 'success'`

// troubled is a condition: a task has failed, or attention.Of finds something in its newest ticks. More than three are
// read only if not all of these ended well: most do.
func troubled() string {
	const end = "(SELECT j.state FROM job AS j WHERE j.jid = x.jid), x.outcome" // costs half of a join
	return fmt.Sprintf(`(%s OR CASE WHEN EXISTS (SELECT 1 FROM (SELECT k.jid, k.decision, k.outcome FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decided IS NOT NULL ORDER BY k.due DESC LIMIT %[8]d) AS x
			WHERE x.decision <> 'submitted' OR coalesce(%[5]s, '') NOT IN ('success', 'gone')
				AND NOT (t.sink = 'event' AND EXISTS (SELECT 1 FROM outbox_message AS m WHERE m.event_id = x.jid AND m.published IS NOT NULL AND m.dead IS NULL)))
		THEN %[2]s OR (SELECT
			sum(y.wrong) >= %[7]d AND 2 * sum(y.wrong) >= sum(y.ended) AND sum(CASE WHEN y.n <= %[8]d THEN y.wrong ELSE 0 END) > 0
			OR sum(CASE WHEN y.state = '%[4]s' THEN 1 ELSE 0 END) >= %[9]d AND sum(CASE WHEN y.state <> '%[4]s' AND y.after = '%[4]s' THEN 1 ELSE 0 END) >= %[10]d
			FROM (SELECT z.state, z.ended, z.wrong, lag(z.state) OVER (ORDER BY z.due DESC) AS after, sum(z.ended) OVER (ORDER BY z.due DESC) AS n
				FROM (SELECT w.due, coalesce(w.state, '') AS state, CASE WHEN w.state = 'success' OR w.state IN %[3]s THEN 1 ELSE 0 END AS ended,
					CASE WHEN w.state IN %[3]s THEN 1 ELSE 0 END AS wrong FROM %[6]s AS w) AS z) AS y)
		ELSE false END)`, afterFailures, lastFailed, endedBadly, attention.Skipped, end, newest(attention.Window),
		attention.Wrong, attention.Recovered, attention.Skips, attention.Long)
}

// containing is a pattern for LIKE of lower-case texts that contain a text; empty for
// the empty text.
func containing(text string) string {
	if text == "" {
		return ""
	}
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(text)) + "%"
}
