//go:build linux

package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/audit"
	"github.com/nextrun/nextrun/bench/internal/must"
)

// somePeriod is how often a task falls due, in seconds: 2,000 tasks have 39 ticks a second.
func somePeriod(r *rand.Rand) int64 {
	switch n := r.IntN(1000); {
	case n < 3:
		return 1
	case n < 13:
		return 10
	case n < 53:
		return 20
	case n < 153:
		return 30
	case n < 503:
		return 60
	}
	return 120
}

// someTimer is the text of a timer with that period.
func someTimer(r *rand.Rand, every int64) string {
	return audit.Timer{Every: every, Phase: r.Int64N(every)}.Text(r)
}

const insertTask = `INSERT INTO periodic_task (id, timer, overlap, catchup, args, task, sink, group_, deadline, jitter)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

// someTask are the values of insertTask for a task of any kind. Slow jobs belong to timers that leave them time most of the time.
func someTask(r *rand.Rand, id string) []any {
	every := somePeriod(r)
	handler, sink, topic := "call", "job", "default"
	switch n := r.IntN(100); {
	case n < 8:
		sink = "mail"
	case n < 16:
		sink, topic = "event", fmt.Sprintf("topic-%d", r.IntN(5))
	case n < 26 && every > 1:
		handler = "slow"
	case n < 34 && every > 1:
		handler = "flaky"
	case n < 36:
		handler = "broken"
	case n < 38 && every > 10:
		handler = "file"
	case n < 42:
		handler = "book"
	}
	var deadline, jitter any = nil, 0
	if r.IntN(10) == 0 {
		deadline = 15
	}
	if r.IntN(10) == 0 && every > 10 {
		jitter = 3
	}
	return []any{
		id, someTimer(r, every), pick(r, "skip", "queue", "replace", "allow"), pick(r, "one", "none", "all", "all"), `{"id": "` + id + `"}`,
		handler, sink, topic, deadline, jitter,
	}
}

// editor edits, deletes and inserts tasks by SQL all the time.
type editor struct {
	handle func() *sql.DB
	r      *rand.Rand
	ids    []string // of the tasks that it edits
	made   int
	done   int // edits that the database has confirmed
}

// newEditor inserts the tasks of the beginning, of which a tenth will be edited.
func newEditor(ctx context.Context, handle func() *sql.DB, r *rand.Rand, tasks int) *editor {
	e := &editor{handle: handle, r: r}
	tx := must.Get(handle().BeginTx(ctx, nil))
	defer tx.Rollback() //nolint:errcheck // Commit tells
	for i := range tasks {
		id := fmt.Sprintf(audit.Fixed+"%04d", i)
		if i%10 == 9 {
			id = fmt.Sprintf("edited-%04d", i)
			e.ids = append(e.ids, id)
		}
		must.Get(tx.ExecContext(ctx, insertTask, someTask(r, id)...))
	}
	must.Nil(tx.Commit())
	return e
}

// work works until the context ends.
func (e *editor) work(ctx context.Context) {
	for ctx.Err() == nil {
		spell(ctx, e.r, 50*time.Millisecond, 500*time.Millisecond)
		limited, cancel := context.WithTimeout(ctx, 5*time.Second)
		if e.edit(limited) == nil { // else there is trouble with the database, or the outcome is not known
			e.done++
		}
		cancel()
	}
}

func (e *editor) edit(ctx context.Context) error {
	id := pick(e.r, e.ids...)
	set := func(text string, values ...any) error {
		// SQLite takes values for $1, $2 in the order in which these are written.
		_, err := e.handle().ExecContext(ctx, fmt.Sprintf("UPDATE periodic_task SET %s WHERE id = $%d", text, len(values)+1), append(values, id)...)
		return err
	}
	switch e.r.IntN(10) {
	case 0, 1:
		return set("timer = $1", someTimer(e.r, somePeriod(e.r)))
	case 2:
		return set("enabled = false")
	case 3, 4:
		return set("enabled = true")
	case 5:
		return set("nextrun = " + stamp(time.Now()))
	case 6:
		return set("overlap = $1, catchup = $2", pick(e.r, "skip", "queue", "replace", "allow"), pick(e.r, "one", "none", "all"))
	case 7:
		return set(pick(e.r, "paused = NULL", "paused = "+stamp(time.Now())+", paused_reason = 'chaos'"))
	case 8:
		_, err := e.handle().ExecContext(ctx, "DELETE FROM periodic_task WHERE id = $1", id)
		return err
	}
	e.made++
	id = fmt.Sprintf("edited-x%06d", e.made)
	_, err := e.handle().ExecContext(ctx, insertTask, someTask(e.r, id)...)
	if err == nil {
		e.ids = append(e.ids, id)
	}
	return err
}

// end disables all tasks, as soon as the database lets it.
func (e *editor) end(ctx context.Context, within time.Duration) {
	for late := time.Now().Add(within); ; wait(ctx, time.Second) {
		err := execute(ctx, e.handle(), "UPDATE periodic_task SET enabled = false")
		if err == nil {
			return
		}
		if ctx.Err() != nil || time.Now().After(late) {
			panic(err)
		}
	}
}
