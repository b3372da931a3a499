package periodic

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/jobqueue"
)

// maxInHand is the greatest number of batches that are submitted at a time,
// while the next one is claimed.
const maxInHand = 2

// result is the end of a submit transaction.
type result struct {
	batch claimed
	plans []Plan
	done  outcome
	err   error
}

// drain claims, decides and submits batch after batch until there is no full
// one any more, or running ends. Claims and decisions are made in this
// goroutine; up to maxInHand submit transactions overlap with them.
func (s *Scheduler) drain(running, working context.Context) error {
	results := make(chan result, maxInHand)
	var err error
	inHand := 0
	settle := func() {
		err = errors.Join(err, s.settle(working, <-results))
		inHand--
	}
	for more := true; more && err == nil && running.Err() == nil; {
		b, claimErr := s.claim(working)
		if claimErr != nil {
			err = claimErr
			break
		}
		more = len(b.tasks) == s.cfg.BatchSize
		if len(b.tasks) == 0 {
			break
		}
		plans := b.decide(s)
		if inHand == maxInHand {
			settle()
		}
		inHand++
		go func() {
			done, err := s.submit(working, b.mark, plans)
			results <- result{b, plans, done, err}
		}()
	}
	for inHand > 0 {
		settle()
	}
	return err
}

// settle deals with the end of a submit transaction.
func (s *Scheduler) settle(ctx context.Context, r result) error {
	switch {
	case r.err == nil:
		if len(r.done.kept) < len(r.plans) { // edited, or locked by somebody else
			s.stale = append(s.stale, r.batch.mark)
		}
		s.report(r.done)
		s.observe(Event{Kind: EventBatch, Count: len(r.batch.tasks), Ticks: len(r.done.ticks), Took: time.Since(r.batch.begun)})
		return nil
	case s.transient(r.err) && !s.contended(ctx, r.err):
		s.stale = append(s.stale, r.batch.mark)
		return fmt.Errorf("submit: %w", r.err)
	}
	s.fail("submit a batch; trying its tasks in smaller ones", r.err)
	if err := s.submitHalves(ctx, r.batch.mark, r.plans, r.err); err != nil {
		s.stale = append(s.stale, r.batch.mark)
		return fmt.Errorf("submit: %w", err)
	}
	return nil
}

// claimed is a batch of tasks that carry a mark, and what to decide on.
type claimed struct {
	mark    string
	begun   time.Time // by the own clock
	now     time.Time // by the database's
	tasks   []Task
	pending map[string]Pending
	queued  map[string][]time.Time
	decided map[string][]TickRange
}

// claim marks due tasks, reads what the decision needs, and commits.
func (s *Scheduler) claim(ctx context.Context) (claimed, error) {
	s.batches++
	b := claimed{mark: fmt.Sprintf("%s/%s/%d", s.cfg.Name, s.boot, s.batches), begun: time.Now()}
	err := s.update(ctx, func(tx Tx) error {
		var err error
		b.now = tx.Now()
		if b.tasks, err = tx.Claim(ctx, b.mark, s.cfg.BatchSize); err != nil || len(b.tasks) == 0 {
			return err
		}
		if b.pending, err = s.pendingJobs(ctx, tx, b.tasks); err != nil {
			return fmt.Errorf("look for pending jobs: %w", err)
		}
		return s.readTicks(ctx, tx, &b)
	})
	if err != nil {
		s.stale = append(s.stale, b.mark) // whether it was committed is not known
		return claimed{}, fmt.Errorf("claim: %w", err)
	}
	return b, nil
}

// readTicks reads the recorded ticks of a batch's tasks that matter.
func (s *Scheduler) readTicks(ctx context.Context, tx Tx, b *claimed) (err error) {
	var waiting []string
	var behind []TickKey
	for i := range b.tasks {
		t := &b.tasks[i]
		// The policy may have been another one when the ticks were queued.
		if t.Overlap == OverlapQueue || t.Overlap == OverlapReplace || t.NextRun.After(b.now) {
			waiting = append(waiting, t.ID)
		}
		if since, ok := s.behind(t, b.now); ok {
			behind = append(behind, TickKey{t.ID, since})
		}
	}
	if len(waiting) > 0 {
		if b.queued, err = tx.QueuedTicks(ctx, waiting); err != nil {
			return err
		}
	}
	if len(behind) > 0 {
		b.decided, err = tx.DecidedTicks(ctx, behind)
	}
	return err
}

// behind reports whether a task has ticks to decide which may have been decided
// before, and since when: by a backfill after an outage, or before somebody set
// nextrun back.
func (s *Scheduler) behind(t *Task, now time.Time) (since time.Time, ok bool) {
	if t.unplanned() || t.NextRun.After(now) {
		return since, false
	}
	if t.setByHand() {
		return t.NextRun, true
	}
	timer, err := s.timer(t)
	if err != nil {
		return since, false
	}
	next := timer.Next(t.Due)
	return t.Due, !next.IsZero() && !next.After(now)
}

// pendingJobs asks the submitters for the pending jobs of the tasks for which
// they matter.
func (s *Scheduler) pendingJobs(ctx context.Context, tx Tx, tasks []Task) (map[string]Pending, error) {
	pending := map[string]Pending{}
	trackers := map[Sink][]string{}
	for _, t := range tasks {
		waits := t.Overlap == OverlapQueue || t.Overlap == OverlapReplace // perhaps with a queued tick
		if !t.overlapping() && (waits || !t.unplanned()) {
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
		f := facts{now: b.now, queued: b.queued[t.ID], decided: b.decided[t.ID], mark: b.mark, most: max(1, maxBatchTicks/len(b.tasks))}
		if p, ok := b.pending[t.ID]; ok {
			f.pending = &p
		}
		plans[i] = decide(t, timer, f, jobqueue.NewID)
	}
	return plans
}

// maxTimers bounds the number of parsed timers that are kept.
const maxTimers = 10_000

// timer returns the parsed timer of a task. Only intervals depend on the anchor.
func (s *Scheduler) timer(t *Task) (calendar.Schedule, error) {
	key := timerKey{timer: t.Timer}
	if isInterval(t.Timer) {
		key.anchor = t.anchor()
	}
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

// isInterval reports whether a timer may be an interval: they begin with "every".
func isInterval(timer string) bool {
	text := strings.TrimSpace(timer)
	return len(text) >= 5 && strings.EqualFold(text[:5], "every")
}
