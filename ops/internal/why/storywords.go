package why

import (
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
)

func (s *Story) at(t time.Time) string { return t.In(s.zone).Format("2006-01-02 15:04:05 MST") }

// due says where the tick comes from.
func (s *Story) due() string {
	k := s.Run
	switch next, err := s.task.Upcoming(k.Due.Add(-time.Microsecond), 1); {
	case k.Missed > 1:
		return fmt.Sprintf("the first of %d ticks until %s that were missed together", k.Missed, s.at(k.Until))
	case k.Missed < 0:
		return fmt.Sprintf("the first of more than 10,000 ticks until %s that were missed together", s.at(k.Until))
	case k.Hand() != "":
		return "not a time of the timer that the task has now: " + k.Hand()
	case k.Cause == periodic.CauseHook:
		return "not a time of the timer that the task has now: a hook asked for it"
	case err != nil || len(next) == 0 || !next[0].Due.Equal(k.Due):
		return "not a time of the timer that the task has now: somebody set it by hand, or the timer was another one then"
	case next[0].NextRun.After(k.Due):
		return "timer " + s.task.Timer + ", and its jitter delays it by " + text.Exact(next[0].NextRun.Sub(k.Due))
	}
	return "timer " + s.task.Timer
}

// answer says it in a sentence.
func (s *Story) answer() string {
	k := s.Run
	if k == nil {
		return s.without()
	}
	which := "The tick of " + s.at(s.Due) + " "
	if !k.Until.IsZero() && k.Missed != 1 {
		which = "The ticks from " + s.at(s.Due) + " to " + s.at(k.Until) + " "
	} else if s.Asked.Before(s.Due) || s.Asked.After(last(k)) {
		away := text.Text(s.Asked.Sub(last(k))) + " earlier"
		if s.Asked.Before(s.Due) {
			away = text.Text(s.Due.Sub(s.Asked)) + " later"
		}
		which = fmt.Sprintf("No tick was due at %s. The nearest one, of %s (%s), ", s.at(s.Asked), s.at(s.Due), away)
	}
	return which + sentence(s.became())
}

// became is the end of the sentence that a tick begins.
func (s *Story) became() string {
	k, j := s.Run, s.job
	switch {
	case k.Decision == periodic.Missed && k.Missed != 1:
		return "were missed together: " + k.Why()
	case k.Decision == periodic.Late:
		return strings.TrimSuffix("was too late, and got no job: "+k.Why(), ": ")
	case k.Decision != periodic.Submitted:
		return strings.TrimSuffix("was "+string(k.Decision)+": "+k.Why(), ": ") + s.blocker()
	case s.task.Sink == periodic.SinkEvent && k.State != "":
		return "became an event, which " + s.ended()
	case s.task.Sink != periodic.SinkJob && s.task.Sink != periodic.SinkEvent:
		return fmt.Sprintf("was submitted to the queue %q as job %s, which %s", s.task.Sink, s.JID, s.ended())
	case j == nil && k.State != "":
		return "was submitted as job " + s.JID + ", which " + s.ended() + ". The job has been deleted since"
	case j == nil:
		return "was submitted as " + s.JID + ", which has been deleted since. How it ended is not known any more"
	case !j.State.Final() && len(s.why) > 0:
		return "was submitted. " + s.why[0].Text
	case !j.State.Final():
		return "was submitted, and its job is " + j.State.Word()
	case j.Started.IsZero():
		return "was submitted, and its job was " + j.State.Word() + " before it began"
	}
	verb := map[jobqueue.State]string{jobqueue.Success: "ran and succeeded", jobqueue.Failed: "ran and failed", jobqueue.Cancelled: "was cancelled"}[j.State]
	return fmt.Sprintf("%s at %s, %s after it was due", verb, s.at(j.Finished), text.Exact(j.Finished.Sub(k.Due))) + s.tries()
}

// blocker names the job that was in the way of the tick.
func (s *Story) blocker() string {
	switch w := s.way; {
	case w == nil:
		return ""
	case w.Finished.IsZero():
		return ", that of the tick of " + s.at(w.Due) + " (job " + w.JID + ")"
	default:
		return ", that of the tick of " + s.at(w.Due) + " (job " + w.JID + "), which ended at " + s.at(w.Finished)
	}
}

// ended is how a job or an event has ended of which only the tick knows.
func (s *Story) ended() string {
	k, event := s.Run, s.task.Sink == periodic.SinkEvent
	how := map[string]string{"success": "succeeded", "failed": "failed", "cancelled": "was cancelled"}[k.State]
	switch {
	case event && k.State == "pending":
		return "its receiver has not confirmed yet" + s.tries()
	case event:
		how = map[string]string{"success": "its receiver confirmed", "failed": "was given up"}[k.State]
	case k.State == "":
		return "has not ended, or the queue does not tell"
	case how == "":
		return "has ended; the queue does not tell how"
	}
	return how + " at " + s.at(k.Finished) + s.tries()
}

// tries are how often it was tried, if more than once, and what was said at last unless it went well.
func (s *Story) tries() (said string) {
	if n := s.Run.Attempts + s.Run.Interrupts; n > 1 { // as the log counts them
		said = fmt.Sprintf(", after %d attempts", n)
	}
	if s.Run.Result != "" && s.Run.State != string(jobqueue.Success) {
		said += ": " + text.FirstLine(s.Run.Result)
	}
	return said
}

// leftOut says that a person or a calendar leaves out the tick to come; empty: nobody does.
func (s *Story) leftOut() string {
	if skip := s.task.SkipAt(s.Asked); skip != nil {
		return view.Because(periodic.CausePerson, skip.Reason)
	}
	next, err := s.task.Upcoming(s.Asked.Add(-time.Microsecond), 1)
	if err != nil || len(next) == 0 || next[0].LeftOut == "" {
		return ""
	}
	return view.Because(periodic.CauseCalendar, next[0].LeftOut)
}

// without says why there is no record of a tick.
func (s *Story) without() string {
	t, asked, next := &s.task, s.at(s.Asked), ""
	if !s.After.IsZero() {
		next = " The next tick after it is that of " + s.at(s.After) + "."
	}
	switch future := s.Asked.After(s.now); {
	case future && s.Due.IsZero():
		return "The timer does not elapse at " + asked + "." + next
	case future && !t.Enabled:
		return "The tick of " + asked + " is to come, but the task is disabled."
	case future && t.Pause.At(s.Asked):
		return "The tick of " + asked + " is to come, and will be skipped: the task is " + view.Noted("paused", t.Pause.Note()) + "."
	case future && s.leftOut() != "":
		return "The tick of " + asked + " is to come, and will be " + s.leftOut() + "."
	case future:
		return "The tick of " + asked + " is to come, " + text.Away(s.Asked, s.now) + "."
	case s.Asked.Before(t.Created):
		return "No tick of " + asked + " is recorded: the task was created later, at " + s.at(t.Created) + "." + next
	case s.Due.IsZero():
		return "No tick of " + asked + " is recorded, nor one before it. Older records may have been deleted by housekeeping." + next
	case t.Enabled && !t.NextRun.After(s.Asked) && t.NextRun.After(periodic.Unplanned):
		return "The timer elapses at " + asked + ", and no tick of that time is recorded. It is due, and no scheduler has decided it yet: nextrun why " + text.Word(s.ID) + " says why."
	}
	return "The timer elapses at " + asked + ", and no tick of that time is recorded. Its record may have been deleted by housekeeping, or the task was disabled then, or had another timer."
}
