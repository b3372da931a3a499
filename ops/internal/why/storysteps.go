package why

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// follow reads what became of the tick after it was decided.
func (s *Story) follow(ctx context.Context, db *store.DB) error {
	k := s.Run
	s.JID, s.State = k.JID, k.Outcome()
	s.step("due", k.Due, k.Due, planned, s.due())
	decided := strings.TrimSuffix(string(k.Decision)+": "+k.Why(), ": ")
	if k.Cause == periodic.CauseHook {
		decided = k.Reason
	}
	if k.Worker != "" {
		decided += ", by the scheduler " + view.NameOf(k.Worker)
	}
	s.step("decided", k.Decided, k.Decided, string(k.Decision), decided)
	unread, err := partOf("its job", s.readJob(ctx, db))
	if err != nil {
		return err
	}
	unheard, err := partOf("its hooks", s.readHooks(ctx, db))
	s.Unread = append(append(s.Unread, unread...), unheard...)
	return err
}

// step adds a step, unless nobody knows when it was.
func (s *Story) step(name string, from, to time.Time, state, text string) {
	if !from.IsZero() {
		s.Steps = append(s.Steps, Step{name, from, latest(from, to), state, text})
	}
}

// storyLines is how much of the end of a log a story has.
const storyLines = 20

// readJob reads the job of the tick, if it is in nextrun's own queue. Of others, and of events, the tick knows the end.
func (s *Story) readJob(ctx context.Context, db *store.DB) error {
	k := s.Run
	switch {
	case k.Own():
	case s.task.Sink == periodic.SinkEvent && k.State == "pending":
		s.step("published", k.Decided, s.now, k.State, s.ended())
		return nil
	default:
		s.step("ended", k.Finished, k.Finished, k.State, s.ended())
		return nil
	}
	j, err := jobqueue.NewQueue(db.Jobs()).Get(ctx, k.JID)
	if err != nil {
		return err
	}
	s.job = &j
	if s.why, err = ExplainJob(ctx, db, &j, s.zone); err != nil {
		return err
	}
	s.ofJob()
	s.Output, err = endOfLog(ctx, db, k.JID, storyLines)
	return err
}

// ofJob are the job, the wait before its first attempt, and its last attempt: the log has the others.
func (s *Story) ofJob() {
	j, k := s.job, s.Run
	what := "handler " + j.Task + ", group " + j.Group
	if j.Submitted.Sub(k.Decided).Abs() < time.Millisecond { // in one transaction, as usual
		s.Steps[len(s.Steps)-1].Text += "; " + what
	} else { // somebody has put it back
		s.step("submitted again", j.Submitted, j.Submitted, string(jobqueue.Scheduled), what)
	}
	began := j.Started
	if began.IsZero() {
		began = s.now
	}
	if from := latest(j.Submitted, k.Due); k.Attempts <= 1 && k.Interrupts == 0 && began.Sub(from) >= time.Millisecond {
		s.step("waited", from, began, string(jobqueue.Waiting), "for an executor")
	}
	ended, said := j.Finished, "on "+view.NameOf(j.Worker)+": "+became(j)
	if j.State == jobqueue.Running {
		ended = s.now
	}
	s.step("attempt "+strconv.Itoa(max(k.Attempts+k.Interrupts, 1)), j.Started, ended, string(j.State), strings.TrimPrefix(said, "on : "))
	if j.State == jobqueue.Stuck {
		s.step("next attempt", j.Retry, j.Retry, planned, "")
	}
}

// became is the state of a job, and what it said at last.
func became(j *jobqueue.Job) string {
	return strings.TrimSuffix(j.State.Word()+": "+text.Clean(text.FirstLine(j.Result), 500), ": ")
}

// hookSpan is how long after the end of a job its hooks are looked for. They are written in
// the transaction that ends it.
const hookSpan = 5 * time.Second

// readHooks finds the jobs of hooks that are about the tick.
func (s *Story) readHooks(ctx context.Context, db *store.DB) error {
	until := s.now
	if k := s.Run; !k.Finished.IsZero() {
		until = k.Finished
	} else if s.JID == "" {
		until = k.Decided
	}
	list, err := hookJobs(ctx, db, jobqueue.Filter{Since: s.Run.Decided.Add(-hookSpan), Until: until.Add(hookSpan)}, func(n *hooks.Notice) bool {
		return n.Job != nil && n.Job.ID == s.JID || n.Job == nil && n.Tick != nil && n.Tick.Due.Equal(s.Run.Due)
	})
	for _, h := range list {
		to, said := h.Finished, h.Hook+" ("+string(h.Event)+"): "+became(&h.Job)
		if !h.State.Final() {
			to = s.now
		}
		if h.Retries > 0 {
			said += ", failed attempts: " + strconv.Itoa(h.Retries)
		}
		s.step("hook", h.Submitted, to, h.State.Word(), said)
	}
	if errors.Is(err, store.ErrNoSchema) {
		return nil
	}
	return err
}
