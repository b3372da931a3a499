package why

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func (s *Story) step(name string, from, to time.Time, state, text string) {
	if from.IsZero() {
		return
	}
	s.Steps = append(s.Steps, Step{Name: name, From: from, To: latest(from, to), State: state, Text: text})
}

// order sorts the steps by time, and says how long each is after the one before.
func (s *Story) order() {
	slices.SortStableFunc(s.Steps, func(a, b Step) int { return a.From.Compare(b.From) })
	for i := 1; i < len(s.Steps); i++ {
		step, before := &s.Steps[i], &s.Steps[i-1]
		step.Since, step.before, step.together = step.From.Sub(before.To), before.Name, step.From.Equal(before.From)
	}
}

// ofTick are the time of the tick and its decision.
func (s *Story) ofTick() {
	k, due := s.Run, "timer "+s.Task.Timer
	switch next, err := s.Task.Upcoming(k.Due.Add(-time.Microsecond), 1); {
	case k.Missed > 1:
		due = fmt.Sprintf("the first of %d ticks until %s that were missed together", k.Missed, s.at(k.Until))
	case k.Missed < 0:
		due = fmt.Sprintf("the first of more than 10,000 ticks until %s that were missed together", s.at(k.Until))
	case err != nil || len(next) == 0 || !next[0].Due.Equal(k.Due):
		due = "not a time of the timer that the task has now: " + askedFor(k)
	case next[0].NextRun.After(k.Due):
		due += ", and its jitter delays it by " + text.Exact(next[0].NextRun.Sub(k.Due))
	}
	s.step("due", k.Due, k.Due, planned, due)
	decided := strings.TrimSuffix(string(k.Decision)+": "+k.Reason, ": ")
	if k.Cause == periodic.CauseHook {
		decided = k.Reason
	}
	if worker, _, _ := strings.Cut(k.Worker, service.BootMark); worker != "" {
		decided += ", by the scheduler " + worker
	}
	s.step("decided", k.Decided, k.Decided, string(k.Decision), decided)
	if s.elsewhere() && k.State != "" {
		s.step("ended", k.Finished, k.Finished, k.State, "its job "+s.ended())
	}
}

// askedFor says where a tick comes from that is none of the timer's.
func askedFor(k *view.Run) string {
	switch {
	case k.Cause == periodic.CauseHook:
		return "a hook asked for it"
	case k.Cause.Hand() != "":
		return k.Cause.Hand()
	}
	return "somebody set it by hand, or the timer was another one then"
}

// firstLine is the first line of what somebody said, unless that is very long.
func firstLine(said string) string {
	first, _, _ := strings.Cut(said, "\n")
	return text.Clean(first, 500)
}

// ofEvent are the event and its delivery.
func (s *Story) ofEvent() {
	r := s.event
	s.State = string(r.Status)
	s.step("written", r.Created, r.Created, "scheduled", "type "+r.Type)
	s.delivery(r)
}

// delivery is what became of an event.
func (s *Story) delivery(r *outbox.Record) {
	const receiver = "the receiver that the relay sends it to"
	to, how := s.now, receiver+" has not confirmed it yet"
	switch {
	case !r.Published.IsZero():
		to, how = r.Published, receiver+" has confirmed it"
	case !r.Dead.IsZero():
		to, how = r.Dead, "given up"
	case r.Status == outbox.Gone:
		to, how = r.Created, "confirmed or given up; its message has been deleted"
	}
	if r.Attempts > 0 {
		how += fmt.Sprintf(", failed attempts: %d", r.Attempts)
	}
	if r.Problem != "" && r.Published.IsZero() {
		how += ": " + firstLine(r.Problem)
	}
	s.step("published", r.Created, to, string(r.Status), "topic "+r.Topic+": "+how)
}

// hookSpan is how long after the end of a job its hooks are looked for. They are written in
// the transaction that ends it.
const hookSpan = 5 * time.Second

// readHooks finds the jobs of hooks that are about the tick.
func (s *Story) readHooks(ctx context.Context, db *store.DB) error {
	end := s.now
	if s.job != nil && !s.job.Finished.IsZero() {
		end = s.job.Finished
	} else if s.JID == "" {
		end = s.Run.Decided
	}
	list, err := hookJobs(ctx, db, jobqueue.Filter{Since: s.Run.Decided.Add(-hookSpan), Until: end.Add(hookSpan)}, s.isOf)
	if err != nil {
		return unlessGone(err)
	}
	for i := range list {
		j, n := &list[i].job, &list[i].notice
		to, how := s.now, "its receiver has not confirmed it yet"
		switch {
		case j.State == jobqueue.Success:
			to, how = j.Finished, "its receiver has confirmed it"
		case j.State.Final():
			to, how = j.Finished, "given up: "+firstLine(j.Result)
		}
		if j.Retries > 0 {
			how += fmt.Sprintf(", failed attempts: %d", j.Retries)
		}
		s.step("hook", j.Submitted, to, j.State.Word(), n.Hook+" ("+string(n.Event)+"): "+how)
	}
	return nil
}

// isOf reports whether a notice is about the tick.
func (s *Story) isOf(n *hooks.Notice) bool {
	if n.Job != nil {
		return n.Job.ID == s.JID
	}
	return n.Tick != nil && n.Tick.Due.Equal(s.Run.Due)
}

func (s *Story) at(t time.Time) string { return t.In(s.zone).Format("2006-01-02 15:04:05 MST") }
