package show

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
)

// Never reports whether a time stands for none.
func Never(t time.Time) bool { return t.IsZero() || !t.Before(periodic.Never) || t.Year() <= 1970 }

// Moment is a time in a zone, to the second.
func Moment(t time.Time, zone *time.Location) string {
	if Never(t) {
		return ""
	}
	return t.In(zone).Format("2006-01-02 15:04:05 MST")
}

// Ago is how far a time is away: "in 3 h 12 min", "5 s ago".
func Ago(t, now time.Time) string {
	if Never(t) {
		return ""
	}
	return span.Away(t, now)
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

// Word is a state as people read it.
func Word(state string) string { return jobqueue.State(state).Word() }

// Glyph is the shape of a state, so that colour alone says nothing.
func Glyph(state string) string {
	switch state {
	case "success", "up", "published":
		return "✔"
	case "failed", "dead", "down":
		return "✘"
	case "running", "scheduled":
		return "▶"
	case "waiting", "queued", "pending", "stuck":
		return "◔"
	case "skipped", "cancelled":
		return "↷"
	case "missed", "late":
		return "○"
	case "paused", "disabled":
		return "⏸"
	}
	return "•"
}
