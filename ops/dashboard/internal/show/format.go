// Package show writes values as people read them on a page: times, texts that may come
// from anywhere, args with what must stay secret masked, and rows as SQL.
package show

import (
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
)

// Never reports whether a time stands for none.
func Never(t time.Time) bool { return t.IsZero() || !t.Before(periodic.Never) || t.Year() <= 1970 }

// Number is a number of things with a comma between thousands.
func Number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Stamp is the layout of a [Moment].
const Stamp = "2006-01-02 15:04:05 MST"

// Moment is a time in a zone, to the second.
func Moment(t time.Time, zone *time.Location) string {
	if Never(t) {
		return ""
	}
	return t.In(zone).Format(Stamp)
}

// Clock is a time in a zone, to the second: without the day if that is today, and without the year if that is this one.
func Clock(t, now time.Time, zone *time.Location) string {
	t, now = t.In(zone), now.In(zone)
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04:05")
	}
	return clockOfDay(t, now)
}

func clockOfDay(t, now time.Time) string {
	switch {
	case Never(t):
		return ""
	case t.Year() == now.Year():
		return t.Format("Mon 2 Jan, 15:04:05")
	}
	return t.Format("2 Jan 2006, 15:04:05")
}

// Range are two times as [Clock] writes them, but both have their days where one of them is not today.
func Range(from, to, now time.Time, zone *time.Location) (string, string) {
	from, to, now = from.In(zone), to.In(zone), now.In(zone)
	if today := now.Format(time.DateOnly); from.Format(time.DateOnly) == today && to.Format(time.DateOnly) == today {
		return Clock(from, now, zone), Clock(to, now, zone)
	}
	return clockOfDay(from, now), clockOfDay(to, now)
}

// Ago is how far a time is away: "in 3 h 12 min", "5 s ago". From ten minutes on it
// has no seconds.
func Ago(t, now time.Time) string {
	if Never(t) {
		return ""
	}
	if away := t.Sub(now); away.Abs() >= 10*time.Minute { // seconds would only make the page restless
		t = now.Add(away.Truncate(time.Minute))
	}
	return text.Away(t, now)
}

// Printable replaces what could deceive a reader: control characters, invalid UTF-8 and
// marks that turn the direction of the text.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return '\uFFFD'
		}
		return r
	}, text)
}

// Shorten cuts a text after n characters.
func Shorten(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n]) + "…"
}

// Tail is the end of an id, which tells those apart that were made at about the same time.
func Tail(id string) string {
	if runes := []rune(Printable(id)); len(runes) > 13 {
		return "…" + string(runes[len(runes)-8:])
	}
	return Printable(id)
}

// Word is a state as people read it.
func Word(state string) string { return jobqueue.State(state).Word() }

// Place shows where a timer is wrong: the timer, and a caret below. It is empty for other errors, and for a timer of more
// than a few lines.
func Place(err error) string {
	var wrong interface{ Caret() string }
	if !errors.As(err, &wrong) || len(wrong.Caret()) > 1000 {
		return ""
	}
	return Printable(wrong.Caret())
}

// Kind is what a state means to whoever looks: good, bad (it failed), warn (it did not run),
// busy (it runs), wait, stop (somebody ended it), pause, or off (nothing happened, and nothing should have). It names a shape and
// a colour; docs/internals/dashboard.md shows them.
func Kind(state string) string {
	switch state {
	case "success", "up", "published":
		return "good"
	case "failed", "dead", "down", "blocked":
		return "bad"
	case "missed", "late", "overdue":
		return "warn"
	case "running", "scheduled":
		return "busy"
	case "cancelled":
		return "stop"
	case "paused":
		return "pause"
	case "waiting", "pending", "stuck", "retrying", "submitted": // nobody knows yet, or ever, how what was submitted ended
		return "wait"
	}
	return "off"
}

// labels are what forms call the columns of a task.
var labels = map[string]string{
	"id": "Name", "handler": "Handler", "timer": "Timer", "summary": "What it is for", "enabled": "Enabled", "group": "Group", "args": "Arguments",
	"subject": "Subject of jobs", "submitter": "Submitter of jobs", "priority": "Priority", "starts": "Not before", "ends": "Not from then on",
	"exclude_calendars": "Not on days of", "overlap": "If the last job still runs", "catchup": "After an outage, run", "grace": "Catch up if at most this late",
	"deadline": "Too late after", "catchup_limit": "Catch up at most", "jitter": "Delay by up to", "sink": "Queue", "pause_after": "Pause after failures in a row",
	"retry_limit": "Retries", "retry_delay": "Wait before the first retry", "timeout": "Stop an attempt after",
}

// Label is what a form calls a column of a task; one that it does not know has its name.
func Label(column string) string {
	if label := labels[column]; label != "" {
		return label
	}
	return column
}
