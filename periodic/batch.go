package periodic

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/jobqueue"
)

// batch claims due tasks, decides and submits them. It returns how many it
// claimed.
func (s *Scheduler) batch(ctx context.Context) (int, error) {
	begun := time.Now()
	b, err := s.claim(ctx)
	if err != nil || len(b.tasks) == 0 {
		return 0, err
	}
	plans := b.decide(s)
	done, err := s.submit(ctx, b.mark, plans)
	if err != nil && s.store.Transient(err) {
		s.stale = append(s.stale, b.mark)
		return 0, fmt.Errorf("submit: %w", err)
	}
	if err != nil {
		s.fail("submit a batch; trying its tasks in smaller ones", err)
		if err := s.submitHalves(ctx, b.mark, plans, err); err != nil {
			s.stale = append(s.stale, b.mark)
			return 0, fmt.Errorf("submit: %w", err)
		}
		return len(b.tasks), nil
	}
	s.report(done)
	s.observe(Event{Kind: EventBatch, Count: len(b.tasks), Ticks: len(done.ticks), Took: time.Since(begun)})
	return len(b.tasks), nil
}

// claimed is a batch of tasks that carry a mark, and what to decide on.
type claimed struct {
	mark    string
	now     time.Time
	tasks   []Task
	pending map[string]Pending
	queued  map[string][]time.Time
}

// claim marks due tasks, reads what the decision needs, and commits.
func (s *Scheduler) claim(ctx context.Context) (claimed, error) {
	s.batches++
	b := claimed{mark: fmt.Sprintf("%s/%s/%d", s.cfg.Name, s.boot, s.batches)}
	err := s.store.Update(ctx, func(tx Tx) error {
		var err error
		b.now = tx.Now()
		if b.tasks, err = tx.Claim(ctx, b.mark, s.cfg.BatchSize); err != nil || len(b.tasks) == 0 {
			return err
		}
		if b.pending, err = s.pendingJobs(ctx, tx, b.tasks); err != nil {
			return fmt.Errorf("look for pending jobs: %w", err)
		}
		var waiting []string
		for _, t := range b.tasks {
			if t.Overlap == OverlapQueue || t.Overlap == OverlapReplace {
				waiting = append(waiting, t.ID)
			}
		}
		if len(waiting) > 0 {
			b.queued, err = tx.QueuedTicks(ctx, waiting)
		}
		return err
	})
	if err != nil {
		s.stale = append(s.stale, b.mark) // whether it was committed is not known
		return claimed{}, fmt.Errorf("claim: %w", err)
	}
	return b, nil
}

// pendingJobs asks the submitters for the pending jobs of the tasks for which
// they matter.
func (s *Scheduler) pendingJobs(ctx context.Context, tx Tx, tasks []Task) (map[string]Pending, error) {
	pending := map[string]Pending{}
	trackers := map[Sink][]string{}
	for _, t := range tasks {
		if !t.overlapping() && !t.unplanned() {
			trackers[t.Sink] = append(trackers[t.Sink], t.ID)
		}
	}
	for sink, ids := range trackers {
		submitter, ok := s.submitters[sink]
		if !ok {
			continue // such tasks are blocked, see decide
		}
		found, err := submitter.Pending(ctx, tx.DBTX(), ids)
		if err != nil {
			return nil, err
		}
		for id, p := range found {
			pending[id] = p
		}
	}
	return pending, nil
}

// decide makes the plans of a batch.
func (b claimed) decide(s *Scheduler) []Plan {
	plans := make([]Plan, len(b.tasks))
	for i := range b.tasks {
		t := &b.tasks[i]
		timer, err := s.timer(t)
		if _, ok := s.submitters[t.Sink]; err == nil && !ok {
			err = fmt.Errorf("sink %q: this scheduler has no submitter for it", t.Sink)
		}
		if err != nil {
			plans[i] = blocked(t, err)
			continue
		}
		f := facts{now: b.now, queued: b.queued[t.ID], mark: b.mark}
		if p, ok := b.pending[t.ID]; ok {
			f.pending = &p
		}
		plans[i] = decide(t, timer, f, jobqueue.NewID)
	}
	return plans
}

// maxTimers bounds the number of parsed timers that are kept.
const maxTimers = 10_000

// timer returns the parsed timer of a task.
func (s *Scheduler) timer(t *Task) (calendar.Schedule, error) {
	key := timerKey{timer: t.Timer, anchor: t.anchor().Format(time.RFC3339Nano)}
	parsed, ok := s.timers[key]
	if !ok {
		parsed.schedule, parsed.err = calendar.ParseAt(t.Timer, t.anchor())
		if len(s.timers) >= maxTimers {
			clear(s.timers)
		}
		s.timers[key] = parsed
	}
	return parsed.schedule, parsed.err
}
