package why

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
)

// Finding is something to know about a task or a job. Programs compare codes, people read texts.
type Finding struct {
	Code view.Code `json:"code"`
	Text string    `json:"finding"`
	Do   string    `json:"do,omitempty"` // what to do about it; empty: nothing
}

// Args are the values in a finding: times, spans, ids and what others have said.
type Args map[string]any

// cause is something that may be the matter with a task.
type cause struct {
	code  view.Code
	means string // for the reference
	of    func(*Explanation) []Args
	say   string // a template over the args
	do    string // likewise; empty: nothing helps, or nothing has to
}

// Findings are the causes that hold, what matters most first, with times in a zone.
func (e *Explanation) Findings(zone *time.Location) []Finding {
	return e.findings(zone, func(view.Code, Args) bool { return true })
}

func (e *Explanation) findings(zone *time.Location, wanted func(view.Code, Args) bool) (list []Finding) {
	program, _, _ := strings.Cut(e.Origin, "@") // or the file that declares the task; empty: there is none
	for _, c := range causes {
		for _, a := range c.of(e) {
			if a["ID"], a["Program"] = e.ID, program; wanted(c.code, a) {
				list = append(list, word(c.code, a, e.Now, zone))
			}
		}
	}
	return list
}

// mistakes are the causes that follow from the row of a task alone, with the argument that says that it is a mistake; empty: it always is.
var mistakes = map[view.Code]string{"task_paused": "Early", "task_idle": "Never", "next_by_hand": "", "tick_left_out": "NoTick"}

// ExplainRow finds mistakes in the row of a task: times that were set by hand or are no ticks, and a timer that elapses no more.
func ExplainRow(t *periodic.Task, now time.Time, zone *time.Location) []Finding {
	e := &Explanation{Task: view.Task{Task: t, Now: now}}
	return e.findings(zone, func(code view.Code, a Args) bool {
		mistake, is := mistakes[code]
		return is && (mistake == "" || a[mistake] == true)
	})
}

// word makes the words of a cause.
func word(code view.Code, a Args, now time.Time, zone *time.Location) Finding {
	words := template.Must(templates.Clone()).Funcs(funcs(now, zone))
	said := func(part string, a Args) string {
		var b strings.Builder
		if err := words.ExecuteTemplate(&b, string(code)+part, a); err != nil {
			return fmt.Sprintf("%s: %v", code, err)
		}
		return b.String()
	}
	return Finding{code, sentence(said("", a)), said(".do", a.forCommands())}
}

// forCommands are the args with names as words of commands: rows have names that somebody else may have chosen.
func (a Args) forCommands() Args {
	words := maps.Clone(a)
	for _, name := range []string{"ID", "JID", "Name", "Near", "Task", "Event", "Topic"} {
		if value, is := a[name].(string); is && value != "" {
			words[name] = text.Word(value)
		}
	}
	return words
}

// templates are the words of all causes: those of what to do have names that end in .do.
var templates = parsed()

func parsed() *template.Template {
	all := template.Must(template.New("").Option("missingkey=zero").Funcs(funcs(time.Time{}, time.UTC)).Parse(shared))
	for _, c := range causes {
		template.Must(all.New(string(c.code)).Parse(c.say))
		template.Must(all.New(string(c.code) + ".do").Parse(c.do))
	}
	return all
}

// funcs are the functions of templates: how values are written.
func funcs(now time.Time, zone *time.Location) template.FuncMap {
	at := func(t time.Time) string { return t.In(zone).Format("2006-01-02 15:04:05 MST") }
	return template.FuncMap{
		"at":    at,
		"utc":   func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
		"span":  text.Text,
		"since": func(t time.Time) string { return text.Text(now.Sub(t)) },
		"away": func(t time.Time) string {
			if t.IsZero() {
				return "a moment ago"
			}
			return text.Away(t, now)
		},
		"first":  text.FirstLine,
		"inARow": func(s view.Streak) string { return s.InARow("failed", s.Failed, at) },
		"stop":   sentence,
		"s":      counted,
	}
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
	return []Args{a}
}

// known is a time for a template, nil if it is zero.
func known(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

// mostNamed is how many jobs, or workers, a sentence names.
const mostNamed = 3

// some joins the first of several texts.
func some(texts []string, by string) string {
	if more := len(texts) - mostNamed; more > 0 {
		texts = append(texts[:mostNamed:mostNamed], strconv.Itoa(more)+" more")
	}
	return strings.Join(texts, by)
}

// workersOf names services.
func workersOf(list []view.Service) string {
	var names []string
	for _, s := range list {
		names = append(names, s.Worker)
	}
	return some(names, ", ")
}

// handlersOf says which handlers executors have, and which of them was probably meant by a name.
func handlersOf(list []view.Service, meant string) (have, near string) {
	var texts, all []string
	for _, s := range list {
		var names []string
		for _, h := range s.Handlers {
			names = append(names, h.Name)
		}
		texts, all = append(texts, s.Worker+" has "+strings.Join(names, ", ")), append(all, names...)
	}
	return some(texts, "; "), text.Nearest(meant, all...)
}
