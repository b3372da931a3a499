// Package reasons has the words for why a tick was not submitted, and for what is wrong with a task: the
// column reason of periodic_tick and the column problem of periodic_task.
package reasons

import (
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// SkipReason is why a tick is skipped while a job is pending.
func SkipReason(p *sink.Pending, due, now time.Time) string {
	return Then(pendingAt(p, due, now))
}

// Then is a reason in the past tense: it is of the time when the tick was decided. Older versions recorded some in the present.
func Then(reason string) string {
	if Overlapped(reason) {
		return then.Replace(reason)
	}
	return reason
}

var then = strings.NewReplacer(" is still ", " was still ", " has not ended after ", " had not ended after ", " is not final", " was not final")

func pendingAt(p *sink.Pending, due, now time.Time) string {
	if now.Before(due) {
		now = due
	}
	return PendingText(p, now)
}

// Overlapped reports whether a tick was skipped since a job of the task was not final.
func Overlapped(reason string) bool {
	return strings.HasPrefix(reason, "the job of ") || strings.HasPrefix(reason, "a job of the task ")
}

// DelayUnknown is a periodic.Facts.Delay.
const DelayUnknown = "it was not decided in time, and the cause is not known"

// ByHand and Backfilled are the reasons of ticks that people have asked for, or parts of them.
const (
	ByHand     = "run by hand"
	Backfilled = "backfilled"
)

// Hand says how somebody has asked for a tick, by its reason; empty: nobody has.
func Hand(reason string) string {
	switch {
	case strings.HasPrefix(reason, ByHand), strings.HasSuffix(reason, "; "+ByHand):
		return ByHand
	case reason == Backfilled:
		return Backfilled
	}
	return ""
}

// TableRefused is the reason of a tick whose job the queue refused although no
// job of the task is in the way.
const TableRefused = "the queue refused the job, although no job of the task is pending; check whether a unique index that you added forbids it"

// PendingText says why a job is in the way: "the job of 02:00:00 UTC has
// not ended after 3 h 12 min (job 7f3a)". Whether its executor lives is not asked.
func PendingText(p *sink.Pending, now time.Time) string {
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
		state = "has not ended after " + Span(now.Sub(p.Started))
	}
	return fmt.Sprintf("%s %s (job %s)", name, state, p.JID)
}

// Span writes a duration by its two greatest units: "3 h 12 min".
func Span(d time.Duration) string {
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

// StateOf reads the state of a job as the table has it, or as people read it. It does not check it.
func StateOf(text string) jobqueue.State {
	for _, s := range jobqueue.States() {
		if s.Word() == text {
			return s
		}
	}
	return jobqueue.State(text)
}
