package dashboard

import (
	"fmt"
	"html/template"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nextrun/nextrun/periodic"
)

// functions are those of the templates.
func functions(now func() time.Time) template.FuncMap {
	return template.FuncMap{
		"moment": moment, "span": span, "ago": func(t time.Time) string { return ago(t, now()) },
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
	switch d := t.Sub(now); {
	case never(t):
		return ""
	case d >= time.Second:
		return "in " + span(d)
	case d > -time.Second:
		return "now"
	default:
		return span(-d) + " ago"
	}
}

// span is a duration by its two greatest units.
func span(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.2f s", max(d, 0).Seconds())
	}
	seconds := int64(d.Round(time.Second) / time.Second)
	units := []struct {
		size int64
		name string
	}{{365 * 86400, "y"}, {86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}}
	for i, u := range units {
		if seconds < u.size {
			continue
		}
		text := fmt.Sprintf("%d %s", seconds/u.size, u.name)
		if i+1 < len(units) {
			if rest := seconds % u.size / units[i+1].size; rest > 0 {
				text += fmt.Sprintf(" %d %s", rest, units[i+1].name)
			}
		}
		return text
	}
	return "0 s"
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
