package diagnosis

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/internal/figures"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/periodic/reasons"
	"github.com/nextrun/nextrun/store"
)

// Finding is something to know about a task.
type Finding struct {
	Code Code   `json:"code"`
	Text string `json:"finding"`
	Do   string `json:"do,omitempty"` // what to do about it; empty: nothing
}

// How long something may take before it is remarkable.
const (
	overdueAfter = 5 * time.Second
	waitsLong    = 10 * time.Second
	markedLong   = 30 * time.Second
	skewMost     = time.Second
)

// Findings draws conclusions, what matters most first.
func (f *Facts) Findings() []Finding {
	var list []Finding
	for _, part := range []func(*Facts) []Finding{ofRow, ofPlan, ofJobs, ofFailure, ofEvent, ofLately, ofTicks, ofClock, ofSkips, ofHooks, ofUnread} {
		list = append(list, part(f)...)
	}
	return list
}

// ofRow says what the row itself keeps from running.
func ofRow(f *Facts) []Finding {
	t := &f.Task
	var list []Finding
	if !t.Enabled {
		list = append(list, Finding{taskDisabled, "It is disabled.", "nextrun task enable " + t.ID})
	}
	text, isWarning := strings.CutPrefix(t.Problem, reasons.WarningPrefix)
	cause, waits := reasons.WaitsFor(t.Problem)
	switch {
	case t.Problem == "":
	case waits:
		list = append(list, Finding{queueBroken, fmt.Sprintf("Its ticks wait for the queue %q: %s.", t.Sink, cause), aboutQueue(t.Sink)})
	case isWarning && strings.HasSuffix(text, neverElapses) && !t.NextRun.Before(periodic.Never): // ofPlan says it
	case isWarning:
		list = append(list, Finding{taskWarning, "Its row has a warning:" + sentence(text), ""})
	case !reasons.BlamesRow(t.Problem):
		list = append(list, Finding{taskProblem, capital(t.Problem) + ".", "if its row is to blame: nextrun task set " + t.ID + "; a scheduler tries it again from time to time"})
	default:
		remedy := "to fix it: nextrun task set " + t.ID
		if _, err := calendar.Parse(t.Timer); strings.HasPrefix(t.Problem, reasons.UnreadablePrefix) && err != nil {
			remedy += " --timer TIMER"
		}
		list = append(list, Finding{taskProblem, "Its row has a problem: " + sentence(t.Problem), remedy})
	}
	if f.unknown {
		list = append(list, Finding{queueUnknown, fmt.Sprintf("Its jobs go to the queue %q, which this program does not know.", t.Sink),
			"define it as a queue in the configuration file, and name that file with --config"})
	}
	switch _, why, _ := strings.Cut(fmt.Sprint(f.broken), fmt.Sprintf("queue %q: ", t.Sink)); {
	case f.broken == nil || waits:
	case errors.Is(f.broken, store.ErrBusy): // ofPlan says who holds the lock
		list = append(list, Finding{queueBroken, fmt.Sprintf("Its queue %q cannot be asked now: the database is busy, such as when somebody has locked a table.", t.Sink), ""})
	default:
		list = append(list, Finding{queueBroken, fmt.Sprintf("Its queue %q cannot be asked with this login: %s. The scheduler's may be another one.", t.Sink, cmp.Or(why, f.broken.Error())), ""})
	}
	return append(list, outOfTime(f)...)
}

// outOfTime says why no tick of the row is submitted now, or any more.
func outOfTime(f *Facts) (list []Finding) {
	t := &f.Task
	if t.Pause.At(f.Now) {
		what := "It has been " + sentence(t.Pause.Text())
		if t.Pause.Since.After(f.Now) {
			what = "It is paused already, although its `paused` is " + at(t.Pause.Since) + ", which is to come."
		}
		list = append(list, Finding{taskPaused, what + " What falls due meanwhile is skipped.", "to end the pause: nextrun task resume " + t.ID})
	}
	if t.Starts.After(f.Now) {
		list = append(list, Finding{taskStartsLater, "It starts at " + at(t.Starts) + ", its `starts`.", "to start it now: nextrun task set " + t.ID + " --starts none"})
	}
	if !t.Ends.IsZero() && !t.Ends.After(f.Now) {
		list = append(list, Finding{taskEnded, "It ended at " + at(t.Ends) + ", its `ends`.", "to go on: nextrun task set " + t.ID + " --ends none"})
	}
	return list
}

// ofPlan says whether the scheduler does its part.
func ofPlan(f *Facts) []Finding {
	t := &f.Task
	if !t.Enabled {
		return nil
	}
	if f.pending != nil && t.Queues() && f.late() > 0 && !t.Unplanned() {
		return []Finding{{tickWaits, "The tick of " + at(t.NextRun) + " waits: " + sentence(reasons.PendingText(f.pending, f.Now)), ""}}
	}
	if f.overdue != nil && t.NextRun.Before(periodic.Never) {
		if found := ofOverdue(f); found != nil {
			return found
		}
	}
	switch {
	case !t.NextRun.Before(periodic.Never):
		if _, err := calendar.Parse(t.Timer); err == nil && t.Ends.IsZero() && t.Blocked() == "" {
			if t.Starts.After(f.Now) {
				return []Finding{{timerNever, fmt.Sprintf("Its timer %q never elapses after its `starts`.", t.Timer), "nextrun task set " + t.ID + " --timer TIMER, or --starts TIME"}}
			}
			return []Finding{{timerNever, fmt.Sprintf("Its timer %q never elapses from now on.", t.Timer), "give it another timer: nextrun task set " + t.ID + " --timer TIMER"}}
		}
		return nil
	case t.Worker != "" && f.Now.Sub(t.Marked) > markedLong:
		return []Finding{silent(f)}
	case t.Pause.At(t.NextRun): // said already
		return nil
	case t.Worker != "" && f.late() < 0:
		return []Finding{{tickReady, "The scheduler " + t.Worker + " has its next tick ready, and submits it when it is due.", ""}}
	case t.Worker != "" && t.Problem == "": // a problem has been said, and is tried again
		return []Finding{{taskMarked, fmt.Sprintf("The scheduler %s took it %s, and has not written since what became of it.", t.Worker, when(t.Marked, f.Now)), ""}}
	case f.overdue != nil && t.Problem == "":
		return notTaken(f)
	case leftOut(t) != "" && t.SkipAt(t.Due) == nil: // ofSkips says it
		return []Finding{{tickExcluded, fmt.Sprintf("Its tick of %s will be left out: %s", at(t.Due), sentence(leftOut(t))), "to run it all the same: nextrun task run " + t.ID}}
	case t.Jitter > 0 && t.NextRun.After(t.Due) && t.NextRun.After(f.Now):
		return []Finding{{taskJitter, fmt.Sprintf("Its jitter delays the tick of %s by %s.", at(t.Due), text.Text(t.NextRun.Sub(t.Due))), ""}}
	}
	return nil
}

// ofSkips says which ticks to come somebody leaves out.
func ofSkips(f *Facts) (list []Finding) {
	for _, s := range f.Task.SkipsToCome(f.Now) {
		what := fmt.Sprintf("Its tick of %s will be %s", at(s.Due), sentence(s.Text()))
		if !f.Task.HasTick(s.Due) {
			what = fmt.Sprintf("A skip is written for %s, but its timer has no tick then, so nothing is left out.", at(s.Due))
		}
		list = append(list, Finding{tickLeftOut, what, "to undo that: nextrun task skip " + f.Task.ID + " " + s.Due.Format(time.RFC3339Nano) + " --undo"})
	}
	return list
}

// leftOut says why calendars leave out the planned tick; empty: they do not.
func leftOut(t *periodic.Task) string {
	if t.Due.IsZero() {
		return ""
	}
	if next, err := t.Upcoming(t.Due.Add(-time.Microsecond), 1); err == nil && len(next) > 0 && next[0].Due.Equal(t.Due) {
		return next[0].LeftOut
	}
	return ""
}

// lockState says who has the locks of schedulers.
func lockState(locks []leader.Lock) string {
	for _, l := range locks {
		if l.State() == leader.Expired {
			return fmt.Sprintf(" The lock %q belongs to %s on %s, whose heartbeat stopped %s ago.", l.Name, l.Holder, l.Hostname, text.Text(l.Now.Sub(l.Heartbeat)))
		}
	}
	return ""
}

// ofTicks explains the last tick, if it became no job.
func ofTicks(f *Facts) []Finding {
	if len(f.Ticks) == 0 {
		return nil
	}
	k := f.Ticks[0]
	switch what := "The tick of " + at(k.Due) + " was "; k.Decision {
	case periodic.Skipped:
		return []Finding{{tickSkipped, what + "skipped: " + sentence(reasons.Then(k.Reason)), overlapAdvice(f)}}
	case periodic.Late:
		return []Finding{{tickLate, what + "too late: " + sentence(k.Reason), "a longer deadline: nextrun task set " + f.Task.ID + " --deadline SECONDS"}}
	case periodic.Missed:
		return missed(f.Task.ID, k)
	}
	return nil
}

// missed explains ticks that were missed.
func missed(id string, k periodic.Tick) []Finding {
	last := k.Until
	if last.Before(k.Due) {
		last = k.Due
	}
	what := "The tick of " + at(k.Due) + " was missed"
	switch {
	case k.Missed < 0:
		what = fmt.Sprintf("More than 10,000 ticks were missed, from %s to %s", at(k.Due), at(last))
	case k.Missed > 1:
		what = fmt.Sprintf("%d ticks were missed, from %s to %s", k.Missed, at(k.Due), at(last))
	}
	return []Finding{{tickMissed, what + ": " + sentence(k.Reason), fmt.Sprintf("to run what was missed now: nextrun task backfill %s --from %s --to %s",
		id, k.Due.UTC().Format(time.RFC3339), last.Add(time.Second).UTC().Format(time.RFC3339))}}
}

// overlapAdvice is what can be done about runs that last longer than their period.
func overlapAdvice(f *Facts) string {
	if f.pending == nil || f.Task.Overlap != periodic.OverlapSkip {
		return ""
	}
	return "to run it afterwards instead: nextrun task set " + f.Task.ID + " --overlap queue"
}

// ofClock compares the clocks.
func ofClock(f *Facts) []Finding {
	if f.skew.Abs() <= skewMost {
		return nil
	}
	way := "ahead of"
	if f.skew < 0 {
		way = "behind"
	}
	return []Finding{{clockApart, fmt.Sprintf("The database's clock is %s %s this host's. The database's decides.", text.Text(f.skew.Abs()), way), ""}}
}

// ofUnread says what else there may be to say.
func ofUnread(f *Facts) []Finding {
	if !f.Unread() {
		return nil
	}
	return []Finding{{notRead, "There may be more to say. What cannot be read: " + strings.Join(f.unread, "; ") + ".", ""}}
}

func at(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func when(t, now time.Time) string {
	if t.IsZero() {
		return "a moment ago"
	}
	return text.Away(t, now)
}

// sentence ends a text with a full stop, unless it ends as a sentence does.
func sentence(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!") {
		return text
	}
	return text + "."
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// neverElapses ends the warning of a timer that never elapses, in all of time.
const neverElapses = " never elapses"

// silent says who may take over a task from the scheduler that has marked it.
func silent(f *Facts) Finding {
	t := &f.Task
	what := fmt.Sprintf("The scheduler %s marked it %s ago and has not come back.", t.Worker, text.Text(f.Now.Sub(t.Marked)))
	if f.overdue != nil && !slices.ContainsFunc(f.overdue.Schedulers, func(s figures.Service) bool { return !strings.HasPrefix(t.Worker, s.Worker+".") }) {
		return Finding{schedulerSilent, what + " No other scheduler runs that could take it over, as far as the database shows.", "is that process stopped, or cut off? start another one: nextrun serve"}
	}
	return Finding{schedulerSilent, what + " Others take it over when the mark expires.", ""}
}
