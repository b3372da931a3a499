package dashboard

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/calendar/explain"
	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/periodic"
)

// edit is a form of the columns that people own, and what it would change.
type edit struct {
	timerNotes

	Parts   []formPart     `json:"-"`
	Words   string         `json:"timer_in_words,omitempty"`
	Runs    []upcoming     `json:"next_runs,omitempty"`
	Changes []columnChange `json:"changes"`
	Error   string         `json:"error,omitempty"`
	Place   string         `json:"-"`             // the timer with a caret under what is wrong
	SQL     string         `json:"sql,omitempty"` // that makes the same change
	Token   string         `json:"-"`             // of the row as the form has read it
}

// formPart are fields that belong together.
type formPart struct {
	Title  string
	Fields []field
}

// field is a column in a form.
type field struct {
	Name, Value, Help string
	Allowed           []string
	Long              bool // it needs the whole width
}

// Unlike reports whether the label of the field does not say the name of its column.
func (f field) Unlike() bool { return !strings.EqualFold(show.Label(f.Name), f.Name) }

// columnChange is a column that a form would change.
type columnChange struct {
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

// partOf are the parts of the form that columns stand in, other than the first one, which says what runs and when.
var partOf = map[string]string{
	"timer": "When", "starts": "When", "ends": "When", "exclude_calendars": "When", "jitter": "When", "enabled": "When",
	"overlap": "If it is late or fails", "catchup": "If it is late or fails", "catchup_limit": "If it is late or fails", "grace": "If it is late or fails", "deadline": "If it is late or fails",
	"pause_after": "If it is late or fails", "retry_limit": "If it is late or fails", "retry_delay": "If it is late or fails", "timeout": "If it is late or fails",
	"summary": "For people", "subject": "For people", "submitter": "For people",
}

// formColumns are the columns of a form: the id of a task is for ever.
func formColumns(isNew bool) []periodic.Column {
	list := column.OfUsers(periodic.Columns())
	if isNew {
		return list
	}
	return column.Without(list, "id")
}

// plainHelp takes from the help of flags what only a terminal has.
var plainHelp = strings.NewReplacer("`", "", "; - reads it from standard input", "", "--config", "the configuration", "--", "")

// form shows the columns of a task, and what the task would do.
func (s *source) form(e *edit, t *periodic.Task, isNew bool) *edit {
	e.Parts = []formPart{{Title: "What runs"}, {Title: "When"}, {Title: "If it is late or fails"}, {Title: "For people"}}
	for _, c := range formColumns(isNew) {
		f := field{Name: c.Name, Value: s.inForm(c, t), Help: plainHelp.Replace(c.Help), Allowed: c.Allowed, Long: c.Kind == column.JSON || c.Name == "timer" || c.Name == "summary"}
		if c.Kind == column.Truth {
			f.Allowed = []string{"true", "false"}
		}
		at := max(slices.IndexFunc(e.Parts, func(p formPart) bool { return p.Title == partOf[c.Name] }), 0)
		e.Parts[at].Fields = append(e.Parts[at].Fields, f)
	}
	now := time.Now()
	if e.Error != "" || t.Timer == "" {
		return e
	}
	schedule, err := calendar.ParseAt(t.Timer, t.Anchor())
	if err != nil {
		e.Error, e.Place = show.Printable(err.Error()), show.Place(err)
		return e
	}
	e.Words, e.timerNotes = explain.Schedule(schedule), notesOn(schedule, now)
	e.Runs = comingRuns(t, now)
	return e
}

// inForm is the value of a column as a form has it: of args, what need not be seen is masked.
func (s *source) inForm(c periodic.Column, t *periodic.Task) string {
	if c.Kind == column.JSON {
		return s.mask.Args(t.Args)
	}
	return c.Get(t).String()
}

// fill sets the columns of a task that a form has values for.
func (s *source) fill(t *periodic.Task, form url.Values, isNew bool) error {
	for _, c := range formColumns(isNew) {
		text := strings.TrimSpace(strings.ReplaceAll(form.Get(c.Name), "\r", ""))
		if !form.Has(c.Name) || text == s.inForm(c, t) {
			continue
		}
		v, err := parse(c, text)
		if c.Kind == column.JSON && strings.Contains(text, "***") {
			err = errors.New("without ***: write anew what is not shown, or change it with nextrun task set")
		}
		if err != nil {
			return frame.Bad("%s is %q and must be %v", c.Name, show.Shorten(show.Printable(form.Get(c.Name)), 100), err)
		}
		c.Set(t, v)
	}
	return nil
}

// parse reads a value as a form has it. Nothing stands for NULL where the column has that.
func parse(c periodic.Column, text string) (column.Value, error) {
	if text == "" && c.Get(new(periodic.Task)).Null {
		return column.Value{Kind: c.Kind, Null: true}, nil
	}
	switch c.Kind {
	case column.Text, column.JSON:
		return column.Value{Kind: c.Kind, Text: text}, nil
	case column.Truth:
		return column.Of(text == "true"), nil
	}
	return column.Parse(c.Kind, text)
}

// tryEdit shows what a form would change.
func (s *source) tryEdit(t periodic.Task, form url.Values) *edit {
	changed := t
	e := &edit{Token: token(&t)}
	err := s.fill(&changed, form, false)
	if err == nil && token(&changed) != e.Token {
		err = changed.Validate()
	}
	e.fail(err)
	for _, c := range formColumns(false) {
		if from, to := c.Get(&t), c.Get(&changed); from != to {
			e.Changes = append(e.Changes, columnChange{c.Name, s.shown(c, from), s.shown(c, to)})
		}
	}
	if len(e.Changes) > 0 && e.Error == "" {
		e.SQL = show.UpdateSQL(&t, &changed, s.mask)
	}
	return s.form(e, &changed, false)
}

// fail notes why a form cannot be saved.
func (e *edit) fail(err error) {
	if err != nil {
		e.Error, e.Place = show.Printable(err.Error()), show.Place(err)
	}
}

// shown is a value as a page shows it.
func (s *source) shown(c periodic.Column, v column.Value) string {
	if v.Null {
		return "none"
	}
	if c.Kind == column.JSON {
		return s.mask.Args(v.Text)
	}
	return show.Shorten(show.Printable(v.String()), 300)
}

// newTask is the form of a task that does not exist yet.
func (s *source) newTask(form url.Values) (any, error) {
	t, e := periodic.NewTask("", "", ""), &edit{}
	err := s.fill(&t, form, true)
	if err == nil && form.Has("id") {
		if err = t.Validate(); err == nil {
			e.SQL = show.RowSQL(&t, s.mask)
		}
	}
	e.fail(err)
	return &taskView{New: true, Task: &t, Edit: s.form(e, &t, true)}, nil
}

// token tells a task from the same one after an edit.
func token(t *periodic.Task) string {
	var all strings.Builder
	for _, c := range formColumns(false) {
		all.WriteString(c.Get(t).String() + "\x00")
	}
	return frame.Digest(all.String())
}

// editTask saves a form, unless somebody else has changed the task meanwhile.
func (s *server) editTask(ctx context.Context, r *http.Request, _ string) (done, back string, err error) {
	form := r.PostForm
	id := strings.TrimSpace(form.Get("id"))
	if form.Get("action") == "add" {
		t := periodic.NewTask(id, "", "")
		if err := s.fill(&t, form, true); err != nil {
			return "", "", err
		}
		return "The task is added.", "task?id=" + url.QueryEscape(id), s.tasks.Add(ctx, t)
	}
	err = s.tasks.Update(ctx, id, func(t *periodic.Task) error {
		if token(t) != form.Get("was") {
			return frame.Bad("somebody has changed the task meanwhile; look at it again")
		}
		return s.fill(t, form, false)
	})
	return "The task is saved.", "task?id=" + url.QueryEscape(id), err
}
