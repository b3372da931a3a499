package why

import (
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
)

// answer says it in a sentence.
func (s *Story) answer() {
	if s.Run == nil {
		s.Answer = s.without()
		return
	}
	which := "The tick of " + s.at(s.Due) + " "
	if !s.Run.Until.IsZero() && s.Run.Missed != 1 {
		which = "The ticks from " + s.at(s.Due) + " to " + s.at(s.Run.Until) + " "
	} else if s.Asked.Before(s.Due) || s.Asked.After(last(*s.Run)) {
		way := s.Asked.Sub(last(*s.Run))
		side := "earlier"
		if way < 0 {
			way, side = s.Due.Sub(s.Asked), "later"
		}
		which = fmt.Sprintf("No tick was due at %s. The nearest one, of %s (%s %s), ", s.at(s.Asked), s.at(s.Due), text.Text(way), side)
	}
	s.Answer = which + sentence(s.became())
}

// became is the end of the sentence that a tick begins.
func (s *Story) became() string {
	k, j := s.Run, s.job
	switch {
	case k.Decision == periodic.Missed && k.Missed != 1:
		return "were missed together: " + k.Reason
	case k.Decision != periodic.Submitted:
		was := "was " + string(k.Decision)
		if k.Decision == periodic.Late {
			was = "was too late, and got no job"
		}
		return strings.TrimSuffix(was+": "+k.Reason, ": ")
	case s.event != nil:
		return "became an event, which is " + string(s.event.Status)
	case s.elsewhere() && k.State != "":
		return fmt.Sprintf("was submitted to the queue %q as job %s, %s", s.Task.Sink, s.JID, s.ended())
	case s.elsewhere():
		return fmt.Sprintf("was submitted to the queue %q as job %s. It has not ended, or the queue does not tell", s.Task.Sink, s.JID)
	case j == nil && k.State != "":
		return "was submitted as job " + s.JID + ", " + s.ended() + ". The job has been deleted since"
	case j == nil:
		return "was submitted as " + s.JID + ", which has been deleted since. How it ended is not known any more"
	}
	tries := ""
	if n := len(s.ran); n > 1 {
		tries = fmt.Sprintf(", after %d attempts", n)
	}
	switch {
	case j.State.Final() && !j.Started.IsZero():
		verb := map[jobqueue.State]string{jobqueue.Success: "ran and succeeded", jobqueue.Failed: "ran and failed", jobqueue.Cancelled: "was cancelled"}[j.State]
		end := fmt.Sprintf("%s at %s, %s after it was due%s", verb, s.at(j.Finished), text.Exact(j.Finished.Sub(k.Due)), tries)
		if j.State == jobqueue.Failed {
			end = strings.TrimSuffix(end+": "+firstLine(j.Result), ": ")
		}
		return end
	case j.State.Final():
		return "was submitted, and its job was " + j.State.Word() + " before it began"
	case len(s.waits) > 0:
		return "was submitted. " + s.waits[0].Text
	}
	return "was submitted, and its job is " + j.State.Word()
}

// elsewhere reports whether the job is in the queue of another project.
func (s *Story) elsewhere() bool {
	return s.Run.Decision == periodic.Submitted && s.Task.Sink != periodic.SinkJob && s.Task.Sink != periodic.SinkEvent
}

// ended is how a job has ended that is not in nextrun's own queue, or not any more.
func (s *Story) ended() string {
	k := s.Run
	how := map[string]string{"success": "which succeeded", "failed": "which failed", "cancelled": "which was cancelled"}[k.State]
	if how == "" {
		return "which has ended; the queue does not tell how"
	}
	how += " at " + s.at(k.Finished)
	if k.Attempts > 1 {
		how += fmt.Sprintf(", after %d attempts", k.Attempts)
	}
	if k.Result != "" {
		how += ": " + firstLine(k.Result)
	}
	return how
}

// without says why there is no record of a tick.
func (s *Story) without() string {
	t, asked := &s.Task, s.at(s.Asked)
	next := ""
	if !s.After.IsZero() {
		next = " The next tick after it is that of " + s.at(s.After) + "."
	}
	switch future := s.Asked.After(s.now); {
	case future && !s.Due.IsZero() && !t.Enabled:
		return "The tick of " + asked + " is to come, but the task is disabled."
	case future && !s.Due.IsZero() && t.Pause.At(s.Asked):
		return "The tick of " + asked + " is to come, and will be skipped: the task is " + sentence(t.Pause.Text())
	case future && !s.Due.IsZero():
		return "The tick of " + asked + " is to come, " + text.Away(s.Asked, s.now) + "."
	case future:
		return "The timer does not elapse at " + asked + "." + next
	case s.Asked.Before(t.Created):
		return "No tick of " + asked + " is recorded: the task was created later, at " + s.at(t.Created) + "." + next
	case !s.Due.IsZero():
		why := "Its record may have been deleted by housekeeping, or the task was disabled then, or had another timer."
		if t.Enabled && !t.NextRun.After(s.Asked) && t.NextRun.After(periodic.Unplanned) {
			why = "It is due, and no scheduler has decided it yet: nextrun why " + s.ID + " says why."
		}
		return "The timer elapses at " + asked + ", and no tick of that time is recorded. " + why
	}
	return "No tick of " + asked + " is recorded, nor one before it. Older records may have been deleted by housekeeping." + next
}
