package world

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
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
	return Timer{Every: every, Phase: r.Int64N(every)}.Text(r)
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

// The ids of tasks that nobody edits begin with Fixed, those of others with edited.
const (
	Fixed  = "fixed-"
	edited = "edited-"
)

// firstID is the id of the i-th task of the beginning, and reports whether it will be edited: a tenth of them.
func firstID(i int) (id string, isEdited bool) {
	if i%10 == 9 {
		return fmt.Sprintf("%s%04d", edited, i), true
	}
	return fmt.Sprintf("%s%04d", Fixed, i), false
}

// Insert inserts the tasks of the beginning.
func Insert(ctx context.Context, db *sql.DB, r *rand.Rand, n int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // Commit tells
	for i := range n {
		id, _ := firstID(i)
		if _, err := tx.ExecContext(ctx, insertTask, someTask(r, id).values()...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Editor edits, deletes and inserts tasks by SQL all the time.
type Editor struct {
	handle func() *sql.DB
	r      *rand.Rand
	now    string // SQL: the time
	ids    []string
	made   int
	done   atomic.Int64
}

// NewEditor returns one for the tasks that [Insert] has inserted. now is the time in SQL.
func NewEditor(handle func() *sql.DB, r *rand.Rand, now string, tasks int) *Editor {
	e := &Editor{handle: handle, r: r, now: now}
	for i := range tasks {
		if id, isEdited := firstID(i); isEdited {
			e.ids = append(e.ids, id)
		}
	}
	return e
}

// Done is how many edits the database has confirmed.
func (e *Editor) Done() int64 { return e.done.Load() }

// Work works until the context ends.
func (e *Editor) Work(ctx context.Context) {
	for ctx.Err() == nil {
		fault.Spell(ctx, e.r, 50*time.Millisecond, 500*time.Millisecond)
		limited, cancel := context.WithTimeout(ctx, 5*time.Second)
		if e.edit(limited) == nil { // else there is trouble with the database, or the outcome is not known
			e.done.Add(1)
		}
		cancel()
	}
}

func (e *Editor) edit(ctx context.Context) error {
	id := fault.Pick(e.r, e.ids...)
	set := func(text string, values ...any) error {
		// SQLite takes values for $1, $2 in the order in which these are written.
		_, err := e.handle().ExecContext(ctx, fmt.Sprintf("UPDATE periodic_task SET %s WHERE id = $%d", text, len(values)+1), append(values, id)...)
		return err
	}
	every := somePeriod(e.r)
	switch e.r.IntN(10) {
	case 0, 1:
		return set("timer = $1", someTimer(e.r, every))
	case 2:
		return set("enabled = false")
	case 3, 4:
		return set("enabled = true")
	case 5:
		return set("nextrun = " + e.now)
	case 6:
		return set("overlap = $1, catchup = $2", fault.Pick(e.r, "skip", "queue", "replace", "allow"), fault.Pick(e.r, "one", "none", "all"))
	case 7:
		if e.r.IntN(2) == 0 {
			return set("paused = NULL")
		}
		return set("paused = " + e.now + ", paused_reason = 'chaos'")
	case 8:
		_, err := e.handle().ExecContext(ctx, "DELETE FROM periodic_task WHERE id = $1", id)
		return err
	}
	e.made++
	t := someTask(e.r, fmt.Sprintf(edited+"x%06d", e.made))
	if _, err := e.handle().ExecContext(ctx, insertTask, t.values()...); err != nil {
		return err
	}
	e.ids = append(e.ids, t.id)
	return nil
}
