package workload

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

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
		if isEdited(i) {
			e.ids = append(e.ids, fmt.Sprintf(edited+"%04d", i))
		}
	}
	return e
}

// Done is how many edits the database has confirmed.
func (e *Editor) Done() int64 { return e.done.Load() }

// Work works until the context ends.
func (e *Editor) Work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(fault.Between(50*time.Millisecond, 500*time.Millisecond)(e.r)):
		}
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
