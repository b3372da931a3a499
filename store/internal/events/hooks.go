package events

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/bounds"
	"github.com/nextrun/nextrun/internal/hookbook"
	"github.com/nextrun/nextrun/internal/jobdb"
	"github.com/nextrun/nextrun/internal/outboxdb"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Hooks writes the events of hooks, in the transactions of executors and schedulers,
// and is the source of the relay that delivers them. It is safe for concurrent use.
//
//	event                                     package whose tellHooks writes it: methods that it calls
//	jobs that begin or end                    store/internal/queue: Hears, Tell
//	ticks without a job                       periodic/scheduler/internal/batch: HearsMissed, TellMissed
//	jobs in other queues that have ended      store/internal/schedule: HearsEnd, TellEnds
type Hooks struct {
	Outbox
	book *hookbook.Book
}

var (
	_ jobdb.Hooks     = Hooks{}
	_ taskdb.Hooks    = Hooks{}
	_ outboxdb.Source = Hooks{}
	_ outboxdb.Pruner = Hooks{}
)

// Hooks returns what a database has for the hooks of a book.
func (db *DB) Hooks(book *hookbook.Book) Hooks { return Hooks{db.Outbox(), book} }

// Hears implements [jobdb.Hooks].
func (h Hooks) Hears(task, tracker string, to jobqueue.State, turned jobqueue.Turned) bool {
	if task == "" {
		return h.book.HearsSome(hookbook.EventOf(to))
	}
	return h.book.Hears(task, tracker, hookbook.EventOf(to), turned)
}

// Tell implements [jobdb.Hooks].
func (h Hooks) Tell(ctx context.Context, tx jobqueue.DBTX, now time.Time, jobs []jobdb.Told) error {
	notices := make([]hooks.Notice, len(jobs))
	for i, j := range jobs {
		notices[i] = hookbook.OfJob(j.Job, now, j.Lines)
		notices[i].Turned = j.Turned
	}
	return h.write(ctx, tx, now, notices)
}

// HearsMissed implements [taskdb.Hooks].
func (h Hooks) HearsMissed(t *periodic.Task) bool {
	return h.book.Hears(t.Task, t.ID, hooks.Missed, "")
}

// TellMissed implements [taskdb.Hooks].
func (h Hooks) TellMissed(ctx context.Context, tx jobqueue.DBTX, now time.Time, ticks []taskdb.MissedTick) error {
	notices := make([]hooks.Notice, len(ticks))
	for i, m := range ticks {
		tick := &hooks.Tick{Due: m.Tick.Due, Decision: string(m.Tick.Decision), Reason: m.Tick.Reason, Missed: m.Tick.Missed}
		if !m.Tick.Until.IsZero() {
			tick.Until = &m.Tick.Until
		}
		notices[i] = hooks.Notice{Event: hooks.Missed, At: now, Task: m.Task.ID, Handler: m.Task.Task, Tick: tick}
	}
	return h.write(ctx, tx, now, notices)
}

// HearsEnd implements [taskdb.Hooks].
func (h Hooks) HearsEnd(t *periodic.Task, k periodic.Tick) bool {
	return h.book.Hears(t.Task, t.ID, endEvent(k.Ended), k.Turned)
}

// TellEnds implements [taskdb.Hooks].
func (h Hooks) TellEnds(ctx context.Context, tx jobqueue.DBTX, now time.Time, ticks []taskdb.EndedTick) error {
	notices := make([]hooks.Notice, len(ticks))
	for i, e := range ticks {
		notices[i] = hooks.Notice{
			Event: endEvent(e.Tick.Ended), At: now, Task: e.Task.ID, Handler: e.Task.Task, Tick: &hooks.Tick{Due: e.Tick.Due, Decision: string(e.Tick.Decision)},
			Job: &hooks.Job{
				ID: e.Tick.JID, State: string(e.Tick.Ended), Attempt: e.Tick.Attempts, Group: e.Task.Group, Subject: e.Task.Subject,
				Submitted: e.Tick.Decided, Finished: &e.Tick.Finished,
			},
			Error: e.Tick.Error, Turned: e.Tick.Turned,
		}
	}
	return h.write(ctx, tx, now, notices)
}

// endEvent is what the end of a job in another queue means; empty: nothing that a hook hears of.
func endEvent(s sink.EndState) hooks.Event {
	switch {
	case s.Succeeded():
		return hooks.Success
	case s == sink.EndFailed:
		return hooks.Failure
	}
	return ""
}

// write adds the events of notices. Each is an aggregate of its own, so that nobody
// waits for the row of one. Their times differ, since the due times of the ticks that
// some of them lead to have to.
func (h Hooks) write(ctx context.Context, outer jobqueue.DBTX, now time.Time, notices []hooks.Notice) error {
	var list []outbox.Event
	for i, n := range notices {
		n.At = n.At.Add(time.Duration(i) * time.Microsecond)
		list = append(list, h.book.Events(n)...)
	}
	if len(list) == 0 {
		return nil
	}
	tx := &Tx{h.db.In(outer, now)}
	rows := make([]appended, len(list))
	for i, e := range list {
		rows[i] = appended{id: e.ID, aggregate: e.AggregateID, version: 1}
	}
	return tx.addEvents(ctx, list, rows)
}

// Claim implements [outboxdb.Source]: it takes the topics of the hooks of the book.
func (h Hooks) Claim(ctx context.Context, c outboxdb.Claim) (outboxdb.Claimed, error) {
	return h.claim(ctx, c, h.book.Has)
}

// Prune implements [outboxdb.Pruner]: it removes events of hooks only, with their
// messages.
func (h Hooks) Prune(ctx context.Context, messages, _ time.Duration, limit int) (outboxdb.Pruned, error) {
	n, err := h.pruneHooks(ctx, messages, limit)
	return outboxdb.Pruned{Messages: n, Events: n}, err
}

// isHookMessage is true of the messages of hooks.
const isHookMessage = `substr(topic, 1, 14) = '` + bounds.HookTopics + `'`

// pruneHooks removes messages of hooks that were published before an age, with their
// events: nobody reads those.
func (s Outbox) pruneHooks(ctx context.Context, age time.Duration, limit int) (removed int, err error) {
	err = s.db.updateOutbox(ctx, false, func(tx *Tx) error {
		var old []string
		if err := tx.Select(ctx, &old, `SELECT event_id FROM outbox_message WHERE published < $1 AND `+isHookMessage+`
			ORDER BY published LIMIT $2`+tx.SQL().ForUpdate, sqldb.Timestamp(tx.Now().Add(-age)), limit); err != nil || len(old) == 0 {
			return err
		}
		r, err := tx.Texts(1, old)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM outbox_message WHERE event_id IN (SELECT value FROM `+r.SQL+` AS v)`, r.Param); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM event_store WHERE id IN (SELECT value FROM `+r.SQL+` AS v)`, r.Param)
		removed = len(old)
		return err
	})
	return removed, err
}
