package frame

import (
	"html/template"
	"regexp"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/dashboard/internal/chart"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

// whole is what does not break in a sentence: a command, a code, or a date.
var whole = regexp.MustCompile("nextrun (?:task|job|tick|event|queue|lock|serve|executor|relay|health|next)\\b(?:[^;,]*[^;,.\\s])?|`[^`]+`|\\d{4}-\\d\\d-\\d\\d(?: \\d\\d:\\d\\d(?::\\d\\d)?(?: (?:[A-Z]{3,4}|[+-]\\d{2,4}))?)?")

// prose is a sentence, with a capital letter, and with its commands as code. Times in the zone of the page look as they do elsewhere on it.
func prose(text string, now time.Time, zone *time.Location) template.HTML {
	var out strings.Builder
	at := 0
	for _, part := range whole.FindAllStringIndex(text, -1) {
		found := text[part[0]:part[1]]
		begin, end := `<code class="whole">`, "</code>"
		if found[0] >= '0' && found[0] <= '9' {
			begin, end = `<span class="took">`, "</span>"
			if t, err := time.ParseInLocation(show.Stamp, found, zone); err == nil && show.Moment(t, zone) == found {
				begin, end = `<time datetime="`+t.UTC().Format(time.RFC3339)+`" title="`+found+`">`, "</time>"
				found = show.Clock(t, now, zone)
			}
		}
		out.WriteString(template.HTMLEscapeString(text[at:part[0]]) + begin + template.HTMLEscapeString(strings.Trim(found, "`")) + end)
		at = part[1]
	}
	said := out.String() + template.HTMLEscapeString(text[at:])
	if said != "" && said[0] >= 'a' && said[0] <= 'z' { // a command begins with a tag
		said = strings.ToUpper(said[:1]) + said[1:]
	}
	return template.HTML(said) //nolint:gosec // all of the text is escaped
}

// functions are those of the templates.
func functions() template.FuncMap {
	return template.FuncMap{
		"moment": show.Moment, "span": text.Exact, "ago": func(t time.Time) string { return show.Ago(t, time.Now()) },
		"short": func(n int, text string) string { return show.Shorten(show.Printable(text), n) },
		"lasts": func(since time.Time) string { return text.Text(max(time.Since(since), 0).Truncate(time.Second)) },
		"num":   show.Number,
		"clock": func(t time.Time, zone *time.Location) string { return show.Clock(t, time.Now(), zone) },
		"until": func(from, to time.Time, zone *time.Location) string {
			a, b := show.Range(from, to, time.Now(), zone)
			return a + " until " + b
		},
		"strip": func(kind string) template.HTML {
			return template.HTML(chart.Strip("", []chart.Cell{{Class: kind}})) //nolint:gosec // package chart escapes its texts
		},
		"prose": func(zone *time.Location, text string) template.HTML { return prose(text, time.Now(), zone) },
		"label": show.Label, "kind": show.Kind, "word": show.Word, "iso": func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
		"never": show.Never, "add": func(a, b int) int { return a + b }, "list": func(items ...any) []any { return items },
	}
}
