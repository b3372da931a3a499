package model

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/leader"
)

// perform runs a transaction of package batch. What it reads are the plans that the scheduler keeps; those that are made
// before their time are used without the time at which they were made.
func perform(ctx context.Context, c batch.Processor, kind string, b batch.Batch) (read batch.Batch, err error) {
	if kind == submit {
		b.Plans = slices.Clone(b.Plans)
		for i := range b.Plans {
			p := &b.Plans[i]
			p.Ticks, p.Settled = slices.Clone(p.Ticks), slices.Clone(p.Settled)
		}
		_, err = c.Submit(ctx, batch.LockTimeout, b)
		return b, err
	}
	read, err = c.Read(ctx, reads[kind])
	unused := func(p periodic.Plan) bool { return p.Held && p.Cancel == "" }
	if kind == readAhead {
		read.Now = time.Time{}
		unused = func(p periodic.Plan) bool { return !p.MayBeMadeAhead() }
	}
	read.Plans = slices.DeleteFunc(read.Plans, unused)
	return read, err
}

// run lets the real code go on with a transaction, by so many calls. It reports false if
// the next one waits for a lock.
func (w *world) run(i *instance, most int) bool {
	t := i.tx
	s := &session{w: w, i: i, t: t, most: most}
	ctx := context.WithValue(context.Background(), sessionKey{}, s)
	b := batch.Batch{}
	if i.held != nil {
		b = i.held.batch
	}
	b, err := perform(ctx, committer, t.kind, b)
	var early *batch.EarlyError
	var later batch.LaterError
	switch {
	case err == nil && t.kind == submit:
		t.done = true
	case err == nil:
		if i.tx = nil; len(b.Plans) > 0 {
			i.held = &held{batch: b, edits: t.edits}
		}
	case errors.Is(s.err, errStop):
	case errors.Is(s.err, errWaits):
		return false
	case errors.Is(err, leader.ErrLost):
		i.end()
		i.token = 0
	case errors.As(err, &early) && early.By <= lead: // the loop puts the plans to those made ahead
		i.tx, i.held = nil, &held{batch: batch.Batch{Plans: i.held.batch.Plans}, edits: i.held.edits}
	case errors.As(err, &early), errors.As(err, &later):
		i.end()
	default:
		w.broken = "error: " + err.Error()
	}
	return true
}

// clear is a transaction that removes expired marks, and those of a name.
func (w *world) clear(i *instance, name string) bool {
	t := &txn{now: at(w.now)}
	if i.led && i.token != 0 {
		if t.fence = i.token; w.guard(i, t) != nil {
			i.token = 0
			return true
		}
	}
	w.clearMarks(t, name)
	w.commit(t)
	return true
}

// look adds what a round does besides batches.
func (a *actions) look(do doing, i *instance) {
	w := a.w
	expired := func(r row) bool { return r.Worker != "" && w.expired(at(w.now), r) && !w.locked(nil, r.ID) }
	if slices.ContainsFunc(w.tables.tasks, expired) {
		do("removes expired marks", func(w *world, i *instance) bool { return w.clear(i, "") })
	}
}

// clock adds the steps of the database's clock.
func (a *actions) clock() {
	if a.w.left.ahead > 0 {
		a.add("half a minute passes: it is "+clock(at(a.w.now+1)), func(w *world) bool {
			w.left.ahead--
			w.now++
			w.high = max(w.high, w.now)
			return true
		})
	}
	if a.w.left.back > 0 && a.w.now > 2 {
		a.add("the clock is set back: it is "+clock(at(a.w.now-2)), func(w *world) bool {
			w.left.back--
			w.now -= 2
			return true
		})
	}
}
