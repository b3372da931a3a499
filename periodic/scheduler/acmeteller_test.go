package scheduler_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store"
)

// acmeTeller is an acme that tells how its jobs end: the state of a job that has ended is a
// [sink.EndState].
type acmeTeller struct {
	*acme
	gone sink.EndState
	deaf func() error // nil: it answers

	unreadable string // the id of a job that the database refuses to read
}

func (q *acmeTeller) Gone() sink.EndState { return q.gone }

func (q *acmeTeller) Ends(ctx context.Context, tx jobqueue.DBTX, open []sink.Open) (ends []sink.JobEnd, err error) {
	if q.deaf != nil {
		if err := q.deaf(); err != nil {
			return nil, err
		}
	}
	for _, o := range open {
		if o.JID == q.unreadable {
			return nil, fmt.Errorf("%w: invalid input syntax", store.ErrRefused)
		}
		var state string
		if err := tx.QueryRowContext(ctx, fmt.Sprintf(`SELECT coalesce(max(state), '') FROM acme_job WHERE ref = '%s'`, o.Ref)).Scan(&state); err != nil {
			return nil, err
		}
		e := sink.JobEnd{JID: o.JID, Attempts: 2, Error: "no\n\tspace\x00 left", Finished: o.Submitted.Add(time.Second)}
		switch state {
		case "":
			continue
		case "success":
			e.Error = ""
		}
		if state != "new" && state != "busy" {
			e.State = sink.EndState(state)
		}
		ends = append(ends, e)
	}
	return ends, nil
}

// endHooks remember the ends that they hear of.
type endHooks struct {
	mu   sync.Mutex
	told []string
}

func (h *endHooks) HearsMissed(*periodic.Task) bool { return false }
func (h *endHooks) TellMissed(context.Context, jobqueue.DBTX, time.Time, []batch.MissedTick) error {
	return nil
}

func (h *endHooks) TellPaused(context.Context, jobqueue.DBTX, time.Time, batch.PausedTask) error {
	return nil
}

func (h *endHooks) HearsEnd(t *periodic.Task, k periodic.Tick) bool {
	return t.Task == t.ID && k.Ended != sink.EndCancelled
}

func (h *endHooks) TellEnds(_ context.Context, _ jobqueue.DBTX, _ time.Time, ticks []batch.EndedTick) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range ticks {
		h.told = append(h.told, fmt.Sprintf("%s %s %s", e.Task.ID, e.Tick.Ended, e.Tick.Error))
	}
	return nil
}

// submitted are tasks for a queue, each with a job that was submitted some seconds ago.
func (f *fixture) submitted(q sink.Submitter, ids ...string) {
	f.Helper()
	for _, id := range ids {
		f.addAcme(id, "allow")
	}
	f.plan(q)
	for _, id := range ids {
		f.due(id, 5*time.Second)
	}
	f.once(withAcme(q))
	f.exec("UPDATE periodic_open SET look = '2026-01-01 00:00:00.000000'")
}

// asks asks the queue for ends, as a scheduler does.
func (f *fixture) asks(q sink.Submitter, hooks batch.Hooks) batch.Ends {
	f.Helper()
	ends, err := f.db.Periodic().AskEnds(f.Context(), f.question(q, hooks))
	f.done(err)
	return ends
}

func (f *fixture) question(q sink.Submitter, hooks batch.Hooks) batch.AskEnds {
	return batch.AskEnds{Sink: "acme", Queue: q, Hooks: hooks, Limit: 1000, Timeout: time.Minute}
}
