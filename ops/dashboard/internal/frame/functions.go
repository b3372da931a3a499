package frame

import (
	"html/template"
	"time"

	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

// functions are those of the templates.
func functions(now func() time.Time) template.FuncMap {
	return template.FuncMap{
		"moment": show.Moment, "span": span.Exact, "ago": func(t time.Time) string { return show.Ago(t, now()) },
		"short": func(n int, text string) string { return show.Shorten(show.Printable(text), n) },
		"glyph": show.Glyph, "word": show.Word, "iso": func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
		"never": show.Never, "add": func(a, b int) int { return a + b }, "list": func(items ...any) []any { return items },
	}
}
