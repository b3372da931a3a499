package tasks

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
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
	state := batch.InState(f.State, "$9", "$10")
	args = []any{f.Task, f.Group, f.After, limit, containing(f.Search), !f.DueBefore.IsZero(), sqldb.Timestamp(due), f.ID}
	for n, at := range []time.Time{tx.Now(), tx.Now().Add(-periodic.OverdueAfter)} {
		if strings.Contains(state, "$"+strconv.Itoa(9+n)) {
			args = append(args, sqldb.Timestamp(at))
		}
	}
	return `
		WHERE ($1 = '' OR t.task = $1) AND ($2 = '' OR t.group_ = $2) AND ($3 = '' OR t.id > $3)
			AND ($5 = '' OR lower(t.id) LIKE $5 ESCAPE '\' OR lower(t.task) LIKE $5 ESCAPE '\')
			AND (NOT $6 OR t.enabled AND t.nextrun < $7 AND t.nextrun > '1970-01-01 00:00:00.000000') AND ($8 = '' OR t.id = $8)
			AND ` + state + `
		ORDER BY ` + order + ` LIMIT $4`, args
}

// containing is a pattern for LIKE of lower-case texts that contain a text; empty for
// the empty text.
func containing(text string) string {
	if text == "" {
		return ""
	}
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(text)) + "%"
}
