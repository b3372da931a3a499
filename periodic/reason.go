package periodic

import (
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
)

// The reasons of periodic_tick, in words for people. Times are UTC. A tick that is
// decided before its time has the reason that holds when it is due.

// SkipReason is why a tick is skipped while a job is pending.
func SkipReason(p *Pending, due, now time.Time) string {
	if now.Before(due) {
		now = due
	}
	return PendingText(p, now)
}

// WaitReason is why a tick waits.
func WaitReason(p *Pending, due, now time.Time) string {
	if p == nil {
		return "an earlier tick is waiting"
	}
	return "waits: " + SkipReason(p, due, now)
}

func replaceReason(p *Pending, due, now time.Time) string {
	return "waits for the end of the job that it replaces: " + SkipReason(p, due, now)
}

func supersededReason(due time.Time) string {
	return "the tick of " + due.UTC().Format("2006-01-02 15:04:05") + " took its place"
}

func lateReason(age, deadline time.Duration) string {
	if deadline <= 0 {
		return "the deadline is 0 s, so every tick is late"
	}
	return fmt.Sprintf("decided %s after its time; the deadline is %s", span(age), span(deadline))
}

// endedReason is why a queued tick of a task that has ended is skipped.
func endedReason(most int) string {
	return fmt.Sprintf("the task has ended after %d ticks, its max_ticks", most)
}

// DelayUnknown is a [Facts.Delay].
const DelayUnknown = "it was not decided in time, and the cause is not known"

// TableRefused is the reason of a tick whose job the queue refused although no
// job of the task is in the way.
const TableRefused = "the queue refused the job, although no job of the task is pending; check whether a unique index that you added forbids it"

func missedReason(t *Task, count int, age time.Duration, delay string) string {
	if delay == "" {
		delay = "no scheduler ran in time"
	}
	switch {
	case t.Catchup == CatchupNone && age <= t.Grace:
		return delay + "; of these only the newest tick counts, since catchup is none"
	case t.Catchup == CatchupNone:
		return fmt.Sprintf("%s; the newest tick was %s old, and the grace is %s", delay, span(age), span(t.Grace))
	case t.Catchup == CatchupAll:
		return fmt.Sprintf("%s; only the newest %d of the missed ticks are submitted, its catchup_limit", delay, t.Pace.CatchupLimit)
	case count == 1:
		return delay + "; one catch-up tick replaces it"
	}
	return delay + "; one catch-up tick replaces them"
}

// PendingText says why a job is in the way: "the job of 02:00:00 UTC has
// not ended after 3 h 12 min (job 7f3a)". Whether its executor lives is not asked.
func PendingText(p *Pending, now time.Time) string {
	if p == nil {
		return "a job of the task is not final"
	}
	name := "a job of the task"
	if !p.Due.IsZero() {
		layout := "2006-01-02 15:04:05 UTC"
		if p.Due.UTC().Format(time.DateOnly) == now.UTC().Format(time.DateOnly) {
			layout = "15:04:05 UTC"
		}
		name = "the job of " + p.Due.UTC().Format(layout)
	}
	state := "is still " + p.State.Word()
	if p.State == jobqueue.Running && !p.Started.IsZero() {
		state = "has not ended after " + span(now.Sub(p.Started))
	}
	return fmt.Sprintf("%s %s (job %s)", name, state, p.JID)
}

// span writes a duration by its two greatest units: "3 h 12 min".
func span(d time.Duration) string {
	if d < time.Second {
		return "less than 1 s"
	}
	units := []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}}
	var parts []string
	for _, u := range units {
		if n := d / u.size; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, u.name))
			d %= u.size
		} else if len(parts) > 0 {
			break
		}
		if len(parts) == 2 {
			break
		}
	}
	return strings.Join(parts, " ")
}

// WarningPrefix begins a problem that is a warning: the task is scheduled all the
// same. Any other problem blocks its task until somebody changes it. The triggers
// and views of the database know the prefix, too.
const WarningPrefix = "warning:"

// UnreadablePrefix begins the problem of a task whose timer cannot be read: the text
// of a *calendar.ParseError. Its queued ticks wait until somebody changes the timer.
const UnreadablePrefix = `timer "`

// Warning returns the problem that warns of something.
func Warning(text string) string { return WarningPrefix + " " + text }

// CutWarning returns the text of a problem, and whether it is a warning.
func CutWarning(problem string) (text string, warning bool) {
	text, warning = strings.CutPrefix(problem, WarningPrefix)
	return strings.TrimSpace(text), warning
}

// Blocked is the problem that keeps a task from running; empty if none does.
func (t *Task) Blocked() string {
	if _, warning := CutWarning(t.Problem); warning {
		return ""
	}
	return t.Problem
}

const (
	waitsPrefix       = "the ticks wait: "               // the queue is to blame, not the row
	unscheduledPrefix = "the task cannot be scheduled: " // the row may be to blame, or something else
)

// Waits is the problem of a task whose queue cannot be used.
func Waits(cause error) string { return waitsPrefix + cause.Error() }

// WaitsFor is why the ticks of a task wait, if its problem lies in the queue.
func WaitsFor(problem string) (cause string, waits bool) {
	return strings.CutPrefix(problem, waitsPrefix)
}

// Unscheduled is the problem of a task that fails alone, for whatever reason.
func Unscheduled(cause error) string { return unscheduledPrefix + cause.Error() }

// BlamesRow reports whether a problem is known to lie in the row.
func BlamesRow(problem string) bool {
	return !strings.HasPrefix(problem, waitsPrefix) && !strings.HasPrefix(problem, unscheduledPrefix)
}
