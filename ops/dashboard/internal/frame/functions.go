package frame

import (
	"html/template"
	"time"

	"github.com/nextrun/nextrun/internal/chart"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

// functions are those of the templates.
func functions(now func() time.Time) template.FuncMap {
	return template.FuncMap{
		"moment": show.Moment, "span": span.Exact, "ago": func(t time.Time) string { return show.Ago(t, now()) },
		"short": func(n int, text string) string { return show.Shorten(show.Printable(text), n) },
		"tail":  show.Tail, "num": show.Number,
		"clock": func(t time.Time, zone *time.Location) string { return show.Clock(t, now(), zone) },
		"strip": func(kind string) template.HTML {
			cell := chart.Cell{Class: kind}
			if kind == "hand" {
				cell = chart.Cell{Class: "good", Hand: true}
			}
			return template.HTML(chart.Strip("", []chart.Cell{cell})) //nolint:gosec // package chart escapes its texts
		},
		"square": func(kind string) template.HTML {
			return template.HTML(chart.Square(kind)) //nolint:gosec // package chart escapes its texts
		},
		"kind": show.Kind, "word": show.Word, "iso": func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
		"never": show.Never, "add": func(a, b int) int { return a + b }, "list": func(items ...any) []any { return items },
	}
}
