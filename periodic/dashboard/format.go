package dashboard

import (
	"html/template"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/periodic"
)

// functions are those of the templates.
func functions(now func() time.Time) template.FuncMap {
	return template.FuncMap{
		"moment": moment, "span": span.Exact, "ago": func(t time.Time) string { return ago(t, now()) },
		"short": func(n int, text string) string { return shorten(printable(text), n) },
		"glyph": glyph, "iso": func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
		"never": never, "add": func(a, b int) int { return a + b }, "list": func(items ...any) []any { return items },
	}
}

// never reports whether a time stands for none.
func never(t time.Time) bool { return t.IsZero() || !t.Before(periodic.Never) || t.Year() <= 1970 }

// moment is a time in a zone, to the second.
func moment(t time.Time, zone *time.Location) string {
	if never(t) {
		return ""
	}
	return t.In(zone).Format("2006-01-02 15:04:05 MST")
}

// ago is how far a time is away: "in 3 h 12 min", "5 s ago".
func ago(t, now time.Time) string {
	if never(t) {
		return ""
	}
	return span.Away(t, now)
}

// printable replaces what could deceive a reader: control characters, invalid UTF-8 and
// marks that turn the direction of the text.
func printable(text string) string {
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

// shorten cuts a text after n characters.
func shorten(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n]) + "…"
}

// glyph is the shape of a state, so that colour alone says nothing.
func glyph(state string) string {
	switch state {
	case "success", "up", "published":
		return "✔"
	case "failed", "dead":
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
