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
	if now.Before(due) {
		now = due
	}
	return pending(p, now, "was still ", "had not ended after ")
}

// TableRefused is the reason of a tick whose job the queue refused although no
// job of the task is in the way.
const TableRefused = "the queue refused the job, although no job of the task is pending; check whether a unique index that you added forbids it"

// PendingText says why a job is in the way: "the job of 02:00:00 UTC has
// not ended after 3 h 12 min (job 7f3a)". Whether its executor lives is not asked.
func PendingText(p *sink.Pending, now time.Time) string {
	return pending(p, now, "is still ", "has not ended after ")
}

func pending(p *sink.Pending, now time.Time, still, after string) string {
	if p == nil {
		return "a job of the task " + strings.TrimSuffix(still, "still ") + "not final"
	}
	name := "a job of the task"
	if !p.Due.IsZero() {
		layout := "2006-01-02 15:04:05 UTC"
		if p.Due.UTC().Format(time.DateOnly) == now.UTC().Format(time.DateOnly) {
			layout = "15:04:05 UTC"
		}
		name = "the job of " + p.Due.UTC().Format(layout)
	}
	state := still + p.State.Word()
	if p.State == jobqueue.Running && !p.Started.IsZero() {
		state = after + Span(now.Sub(p.Started))
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
