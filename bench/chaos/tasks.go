//go:build linux

package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/audit"
	"github.com/nextrun/nextrun/bench/internal/must"
)

// periods are how often tasks fall due, in seconds, as often as they do: 2,000 tasks have 39 ticks a second.
var periods = slices.Concat(slices.Repeat([]int64{1}, 3), slices.Repeat([]int64{10}, 10), slices.Repeat([]int64{20}, 40),
	slices.Repeat([]int64{30}, 100), slices.Repeat([]int64{60}, 350), slices.Repeat([]int64{120}, 497))

// someTimer is the text of a timer with that period.
func someTimer(r *rand.Rand, every int64) string {
	return audit.Timer{Every: every, Phase: r.Int64N(every)}.Text(r)
}

const insertTask = `INSERT INTO periodic_task (id, timer, overlap, catchup, args, task, sink, group_, deadline, jitter, exclude_calendars)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`

// someTask are the values of insertTask for a task of any kind. Slow jobs belong to timers that leave them time most of the time.
func (e *editor) someTask(id string) []any {
	r := e.r
	every := pick(r, periods...)
	handler, sink, topic := "call", "job", "default"
	switch n := r.IntN(100); {
	case n < 8:
		if sink = pick(r, e.queues...); sink == "river" {
			handler = "parcel"
		}
	case n < 16:
		sink, topic = "event", fmt.Sprintf("topic-%d", r.IntN(5))
	case n < 26 && every > 1:
		handler, topic = "slow", pick(r, "default", "narrow")
	case n < 34 && every > 1:
		handler, topic = "flaky", "narrow"
	case n < 36:
		handler = "broken"
	case n < 38 && every > 10:
		handler = "command"
	case n < 42:
		handler = "book"
	}
	var deadline, jitter, calendar any = nil, 0, nil
	if r.IntN(10) == 0 {
		deadline = 15
	}
	if r.IntN(10) == 0 && every > 10 {
		jitter = 3
	}
	if r.IntN(10) == 0 {
		calendar = "closed"
	}
	return []any{
		id, someTimer(r, every), pick(r, "skip", "queue", "replace", "allow"), pick(r, "one", "none", "all", "all"), `{"id": "` + id + `"}`,
		handler, sink, topic, deadline, jitter, calendar,
	}
}

// editor edits, deletes and inserts tasks by SQL all the time.
type editor struct {
	handle func() *sql.DB
	r      *rand.Rand
	queues []string // of others
	ids    []string // of the tasks that it edits
	made   int
	done   int // edits that the database has confirmed
}

// newEditor inserts the tasks of the beginning, of which a tenth will be edited.
func newEditor(ctx context.Context, handle func() *sql.DB, r *rand.Rand, tasks int, queues []string) *editor {
	e := &editor{handle: handle, r: r, queues: queues}
	tx := must.Get(handle().BeginTx(ctx, nil))
	defer tx.Rollback() //nolint:errcheck // Commit tells
	for i := range tasks {
		id := fmt.Sprintf(audit.Fixed+"%04d", i)
		if i%10 == 9 {
			id = fmt.Sprintf("edited-%04d", i)
			e.ids = append(e.ids, id)
		}
		must.Get(tx.ExecContext(ctx, insertTask, e.someTask(id)...))
	}
	must.Nil(tx.Commit())
	e.lift(ctx)
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
	if e.r.IntN(25) == 0 {
		return e.rule(ctx, pick(e.r, audit.Slow, audit.Narrow), pick(e.r, 0, 2, 3, 4, 6, audit.Unlimited))
	}
	if e.r.IntN(60) == 0 {
		return e.rule(ctx, audit.Closed, e.r.IntN(2))
	}
	id := pick(e.r, e.ids...)
	set := func(text string, values ...any) error {
		// SQLite takes values for $1, $2 in the order in which these are written.
		_, err := e.handle().ExecContext(ctx, fmt.Sprintf("UPDATE periodic_task SET %s WHERE id = $%d", text, len(values)+1), append(values, id)...)
		return err
	}
	switch e.r.IntN(10) {
	case 0, 1:
		return set("timer = $1", someTimer(e.r, pick(e.r, periods...)))
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
		return execute(ctx, e.handle(), "DELETE FROM periodic_task WHERE id = '"+id+"'")
	}
	e.made++
	id = fmt.Sprintf("edited-x%06d", e.made)
	_, err := e.handle().ExecContext(ctx, insertTask, e.someTask(id)...)
	if err == nil {
		e.ids = append(e.ids, id)
	}
	return err
}

// rule edits a calendar or a limit, and notes in the same transaction what it says from now on.
func (e *editor) rule(ctx context.Context, what string, value int) error {
	kind, name, _ := strings.Cut(what, " ")
	remove := fmt.Sprintf("DELETE FROM job_limit WHERE kind = '%s' AND name = '%s'", kind, name)
	insert := fmt.Sprintf("INSERT INTO job_limit (kind, name, max) VALUES ('%s', '%s', %d)", kind, name, value)
	if what == audit.Closed {
		day := func(n int) string { return time.Now().AddDate(0, 0, n).UTC().Format(time.DateOnly) }
		remove = "DELETE FROM periodic_calendar"
		insert = "INSERT INTO periodic_calendar (name, first_day, last_day) VALUES ('closed', '2020-01-01', NULL)" // a day that is over
		if value == 1 {
			insert += fmt.Sprintf(", ('closed', '%s', '%s')", day(-1), day(1))
		}
	}
	note := fmt.Sprintf("INSERT INTO chaos_rule (what, value) VALUES ('%s', %d)", what, value)
	return must.Try(func() {
		tx := must.Get(e.handle().BeginTx(ctx, nil))
		defer tx.Rollback() //nolint:errcheck // Commit tells
		for _, s := range []string{note, remove, insert} {
			if s != insert || value != audit.Unlimited {
				must.Get(tx.ExecContext(ctx, s))
			}
		}
		must.Nil(tx.Commit())
	})
}

// lift takes away all limits, and what calendars leave out.
func (e *editor) lift(ctx context.Context) {
	for what, value := range map[string]int{audit.Closed: 0, audit.Slow: audit.Unlimited, audit.Narrow: audit.Unlimited} {
		must.Nil(surely(ctx, patience, func(ctx context.Context) error { return e.rule(ctx, what, value) }))
	}
}

// end disables all tasks.
func (e *editor) end(ctx context.Context) {
	must.Nil(surely(ctx, patience, func(ctx context.Context) error {
		return execute(ctx, e.handle(), "UPDATE periodic_task SET enabled = false")
	}))
}
