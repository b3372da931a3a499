package periodic

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/text"
)

// maxText is the number of characters that a text column holds.
const maxText = 254

// TaskError says what is wrong with a task: one [FieldError] or more, which
// [errors.As] finds too.
type TaskError struct {
	ID     string
	Fields []FieldError
}

// FieldError says what is wrong with one column of a task.
type FieldError struct {
	Field string // the column, without the underscore of group_
	Err   error  // of the timer a *calendar.ParseError
}

// Error names the task and each column.
func (e *TaskError) Error() string {
	texts := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		texts[i] = f.Error()
	}
	return fmt.Sprintf("task %q: %s", e.ID, strings.Join(texts, "; "))
}

// Unwrap returns the errors of the fields.
func (e *TaskError) Unwrap() []error {
	list := make([]error, len(e.Fields))
	for i := range e.Fields {
		list[i] = &e.Fields[i]
	}
	return list
}

// Error names the column, unless the error does.
func (e *FieldError) Error() string {
	text := e.Err.Error()
	if strings.HasPrefix(text, e.Field+" ") {
		return text
	}
	return e.Field + ": " + text
}

// Unwrap returns Err.
func (e *FieldError) Unwrap() error { return e.Err }

// Validate returns a [*TaskError] if the table would refuse the task, or a
// scheduler block it, and for args that are not JSON.
func (t *Task) Validate() error { return t.validateArgs(argsJSON) }

// argsRule says what the args of a task must be.
type argsRule int

// The rules.
const (
	argsAny  argsRule = iota // anything
	argsText                 // something that both databases can hold
	argsJSON
)

// validateArgs is Validate with another rule for the args.
func (t *Task) validateArgs(args argsRule) error {
	e := &TaskError{ID: t.ID}
	e.text("id", t.ID, true)
	e.text("handler", t.Task, true)
	e.text("group", t.Group, true)
	e.text("subject", t.Subject, false)
	e.text("submitter", t.Submitter, true)
	e.text("summary", t.Summary, false)
	e.args(t.Args, args)
	if _, err := calendar.ParseAt(t.Timer, t.Anchor()); err != nil {
		e.add("timer", err)
	}
	e.time("starts", t.Starts)
	e.time("ends", t.Ends)
	e.time("nextrun", t.NextRun)
	if !t.Starts.IsZero() && !t.Ends.IsZero() && !t.Starts.Before(t.Ends) {
		e.addf("ends", "must be later than starts")
	}
	e.policies(t)
	e.numbers(t)
	return e.orNil()
}

func (e *TaskError) add(field string, err error) { e.Fields = append(e.Fields, FieldError{field, err}) }

func (e *TaskError) addf(field, format string, args ...any) {
	e.add(field, fmt.Errorf(format, args...))
}

// orNil is the error, if a field is wrong.
func (e *TaskError) orNil() error {
	if len(e.Fields) == 0 {
		return nil
	}
	return e
}

func (e *TaskError) text(field, s string, required bool) {
	switch n := utf8.RuneCountInString(s); {
	case required && s == "":
		e.addf(field, "is empty")
	case n > maxText:
		e.addf(field, "has %d characters; use at most %d", n, maxText)
	case !text.Valid(s):
		e.addf(field, "is not UTF-8 text without NUL")
	}
}

func (e *TaskError) args(s string, rule argsRule) {
	var value json.RawMessage
	if err := json.Unmarshal([]byte(s), &value); rule == argsJSON && err != nil {
		e.addf("args", "is not JSON: %w", err)
	} else if rule != argsAny && !text.Valid(s) {
		e.addf("args", "is not UTF-8 text without NUL")
	}
}

func (e *TaskError) time(field string, t time.Time) {
	if !t.IsZero() && (t.Before(Unplanned) || t.After(Never.Add(time.Second-time.Microsecond))) {
		e.addf(field, "is %s; use a time from 1970 to 9999", t.UTC().Format(time.RFC3339))
	}
}

func (e *TaskError) policies(t *Task) {
	for _, c := range userColumns {
		if value := c.Get(t).Text; c.Allowed != nil && !slices.Contains(c.Allowed, value) {
			last := len(c.Allowed) - 1
			e.addf(c.Name, "is %q; use %s or %s", value, strings.Join(c.Allowed[:last], ", "), c.Allowed[last])
		}
	}
	if !t.Sink.Valid() {
		e.addf("sink", "is %q; use job, event or the name of a queue: a lower-case letter, then at most %d lower-case letters, digits, '-' and '_'",
			t.Sink, MaxSink-1)
	}
}

// Bounds of numbers, in the table too.
const (
	longestWait  = math.MaxInt32 * time.Second
	longestLimit = 365 * 24 * time.Hour
	maxCount     = 1_000_000
	maxLimit     = 10_000 // of CatchupLimit
)

func (e *TaskError) numbers(t *Task) {
	for _, c := range []struct {
		field string
		value *time.Duration
		most  time.Duration
	}{
		{"grace", &t.Grace, longestWait},
		{"deadline", t.Deadline, longestWait},
		{"jitter", &t.Jitter, longestWait},
		{"retry_delay", &t.RetryDelay, longestLimit},
		{"timeout", &t.Timeout, longestLimit},
	} {
		if d := c.value; d != nil && (*d < 0 || *d > c.most || *d%time.Second != 0) {
			e.addf(c.field, "is %s; use whole seconds from 0 to %d", *d, c.most/time.Second)
		}
	}
	for _, c := range []struct {
		field       string
		value       *int
		least, most int
	}{
		{"priority", &t.Priority, math.MinInt32, math.MaxInt32},
		{"catchup_limit", &t.CatchupLimit, 0, maxLimit},
		{"pause_after", &t.PauseAfter, 0, maxCount},
		{"retry_limit", t.RetryLimit, 0, maxCount},
	} {
		if n := c.value; n != nil && (*n < c.least || *n > c.most) {
			e.addf(c.field, "is %d; use %d to %d", *n, c.least, c.most)
		}
	}
}
