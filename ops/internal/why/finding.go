package why

import (
	"fmt"
	"strings"
	"text/template"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
)

// Code names the cause of a finding. It stays the same when the words change: programs
// compare codes, people read [Finding.Text].
type Code = view.Code

// Finding is something to know about a task or a job.
type Finding struct {
	Code Code   `json:"code"`
	Text string `json:"finding"`
	Do   string `json:"do,omitempty"` // what to do about it; empty: nothing
}

// Args are the values in a finding: times, spans, ids and what others have said.
type Args map[string]any

// Cause is something that may be the matter with a task.
type Cause struct {
	Code  Code
	Means string // for the reference
	of    func(*Facts) []Args
	say   string // a template over the args
	do    string // likewise; empty: nothing helps, or nothing has to
}

// Causes are all of them, what matters most first.
func Causes() []Cause { return causes }

// Findings are the causes that hold, with times in a zone.
func (f *Facts) Findings(zone *time.Location) []Finding {
	var list []Finding
	for _, c := range causes {
		for _, a := range c.of(f) {
			a["ID"] = f.Task.ID
			list = append(list, f.word(c.Code, a, zone))
		}
	}
	return list
}

// OfRow are the findings that follow from the row of a task alone, and are mistakes: times that were set by hand or are no ticks.
func OfRow(t *periodic.Task, now time.Time, zone *time.Location) (list []Finding) {
	f := &Facts{Task: view.Task{Task: t, Now: now}}
	for _, one := range []struct {
		code    Code
		of      func(*Facts) []Args
		mistake string // an argument that says that it is one; empty: it always is
	}{{"task_paused", paused, "Early"}, {"next_by_hand", byHand, ""}, {"tick_left_out", leftOut, "NoTick"}} {
		for _, a := range one.of(f) {
			if a["ID"] = t.ID; one.mistake == "" || a[one.mistake] == true {
				list = append(list, f.word(one.code, a, zone))
			}
		}
	}
	return list
}

// word makes the words of a cause.
func (f *Facts) word(code Code, a Args, zone *time.Location) Finding {
	words := template.Must(templates.Clone()).Funcs(funcs(f.Now, zone))
	said := func(part string) string {
		var b strings.Builder
		if err := words.ExecuteTemplate(&b, string(code)+part, a); err != nil {
			return fmt.Sprintf("%s: %v", code, err)
		}
		return b.String()
	}
	return Finding{code, sentence(said("")), said(".do")}
}

// templates are the words of all causes: those of what to do have names that end in .do.
var templates = parsed()

func parsed() *template.Template {
	all := template.Must(template.New("").Option("missingkey=zero").Funcs(funcs(time.Time{}, time.UTC)).Parse(shared))
	for _, c := range causes {
		template.Must(all.New(string(c.Code)).Parse(c.say))
		template.Must(all.New(string(c.Code) + ".do").Parse(c.do))
	}
	return all
}

// funcs are the functions of templates: how values are written.
func funcs(now time.Time, zone *time.Location) template.FuncMap {
	at := func(t time.Time) string { return t.In(zone).Format("2006-01-02 15:04:05 MST") }
	return template.FuncMap{
		"at":     at,
		"utc":    func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
		"span":   text.Text,
		"since":  func(t time.Time) string { return text.Text(now.Sub(t)) },
		"away":   func(t time.Time) string { return away(t, now) },
		"first":  text.FirstLine,
		"inARow": func(times int, s view.Streak) string { return s.InARow("failed", times, at) },
		"stop":   sentence,
		"s":      counted,
	}
}

func away(t, now time.Time) string {
	if t.IsZero() {
		return "a moment ago"
	}
	return text.Away(t, now)
}

// sentence ends a text with a full stop, unless it ends as a sentence does.
func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!") {
		return text
	}
	return text + "."
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// when are args if a condition holds.
func when(holds bool, a Args) []Args {
	if !holds {
		return nil
	}
	if a == nil {
		a = Args{}
	}
	return []Args{a}
}

// known is a time for a template, nil if it is zero.
func known(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}
