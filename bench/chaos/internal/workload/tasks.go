// Package workload makes the tasks of the chaos, and edits some of them all the time.
package workload

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
	"github.com/nextrun/nextrun/bench/chaos/internal/timer"
)

// task is a row of periodic_task as the chaos makes it.
type task struct {
	id, handler, timer, overlap, catchup, sink string
	topic                                      string
	deadline, jitter                           sql.NullInt64
}

// periods are how often tasks fall due: shares of a thousand, and 39 ticks a second of 2,000 tasks.
var periods = []struct {
	seconds int64
	share   int
}{{1, 3}, {10, 10}, {20, 40}, {30, 100}, {60, 350}, {120, 497}}

func somePeriod(r *rand.Rand) int64 {
	n := r.IntN(1000)
	for _, p := range periods {
		if n -= p.share; n < 0 {
			return p.seconds
		}
	}
	return 120
}

// someTimer is the text of a timer with that period.
func someTimer(r *rand.Rand, every int64) string {
	return timer.Timer{Every: every, Phase: r.Int64N(every)}.Text(r)
}

// someTask is a task of any kind. Slow jobs belong to timers that leave them time most of the time.
func someTask(r *rand.Rand, id string) task {
	every := somePeriod(r)
	t := task{
		id: id, handler: "call", sink: "job", topic: "default",
		timer:   someTimer(r, every),
		overlap: fault.Pick(r, "skip", "queue", "replace", "allow"),
		catchup: fault.Pick(r, "one", "none", "all", "all"),
	}
	switch n := r.IntN(100); {
	case n < 8:
		t.sink = "mail"
	case n < 16:
		t.sink, t.topic = "event", fmt.Sprintf("topic-%d", r.IntN(5))
	case n < 26 && every > 1:
		t.handler = "slow"
	case n < 34 && every > 1:
		t.handler = "flaky"
	case n < 36:
		t.handler = "broken"
	case n < 38 && every > 10:
		t.handler = "file"
	}
	if r.IntN(10) == 0 {
		t.deadline = sql.NullInt64{Int64: 15, Valid: true}
	}
	if r.IntN(10) == 0 && every > 10 {
		t.jitter = sql.NullInt64{Int64: 3, Valid: true}
	}
	return t
}

const insertTask = `INSERT INTO periodic_task (id, task, timer, overlap, catchup, sink, group_, deadline, jitter, args)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

// values are those of insertTask.
func (t task) values() []any {
	return []any{t.id, t.handler, t.timer, t.overlap, t.catchup, t.sink, t.topic, t.deadline, t.jitter.Int64, `{"id": "` + t.id + `"}`}
}

// The ids of tasks that nobody edits begin with fixed, those of others with edited.
const (
	fixed  = "fixed-"
	edited = "edited-"
)

// IsFixed reports whether nobody edits a task.
func IsFixed(id string) bool { return strings.HasPrefix(id, fixed) }

// isEdited reports whether the i-th task of the beginning will be edited: a tenth of them.
func isEdited(i int) bool { return i%10 == 9 }

// Insert inserts the tasks of the beginning.
func Insert(ctx context.Context, db *sql.DB, r *rand.Rand, n int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // Commit tells
	for i := range n {
		prefix := fixed
		if isEdited(i) {
			prefix = edited
		}
		if _, err := tx.ExecContext(ctx, insertTask, someTask(r, fmt.Sprintf("%s%04d", prefix, i)).values()...); err != nil {
			return err
		}
	}
	return tx.Commit()
}
