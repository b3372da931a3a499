package periodic

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nextrun/nextrun/calendar"
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
	v := validator{id: t.ID}
	v.text("id", t.ID, true)
	v.text("handler", t.Task, true)
	v.text("group", t.Group, true)
	v.text("subject", t.Subject, false)
	v.text("submitter", t.Submitter, true)
	v.text("summary", t.Summary, false)
	v.args(t.Args, args)
	if _, err := calendar.ParseAt(t.Timer, t.Anchor()); err != nil {
		v.add("timer", err)
	}
	v.bounds(t.Starts, t.Ends)
	if !t.NextRun.IsZero() {
		v.time("nextrun", t.NextRun)
	}
	v.seconds("grace", t.Grace)
	v.seconds("jitter", t.Jitter)
	if t.Deadline != nil {
		v.seconds("deadline", *t.Deadline)
	}
	v.policies(t)
	v.limits(t)
	return v.err()
}

// validator collects what is wrong with a task.
type validator struct {
	id     string
	fields []FieldError
}

func (v *validator) add(field string, err error) { v.fields = append(v.fields, FieldError{field, err}) }

func (v *validator) addf(field, format string, args ...any) {
	v.add(field, fmt.Errorf(format, args...))
}

func (v *validator) err() error {
	if len(v.fields) == 0 {
		return nil
	}
	return &TaskError{ID: v.id, Fields: v.fields}
}

func (v *validator) text(field, text string, required bool) {
	switch n := utf8.RuneCountInString(text); {
	case required && text == "":
		v.addf(field, "is empty")
	case n > maxText:
		v.addf(field, "has %d characters, at most %d are allowed", n, maxText)
	default:
		v.encoding(field, text)
	}
}

func (v *validator) encoding(field, text string) {
	switch {
	case !utf8.ValidString(text):
		v.addf(field, "is not valid UTF-8")
	case strings.ContainsRune(text, 0):
		v.addf(field, "contains a NUL character")
	}
}

func (v *validator) args(text string, rule argsRule) {
	var value json.RawMessage
	if err := json.Unmarshal([]byte(text), &value); rule == argsJSON && err != nil {
		v.addf("args", "is not JSON: %w", err)
		return
	}
	if rule != argsAny {
		v.encoding("args", text)
	}
}

func (v *validator) bounds(starts, ends time.Time) {
	if !starts.IsZero() {
		v.time("starts", starts)
	}
	if !ends.IsZero() {
		v.time("ends", ends)
	}
	if !starts.IsZero() && !ends.IsZero() && !starts.Before(ends) {
		v.addf("ends", "must be later than starts")
	}
}

func (v *validator) time(field string, t time.Time) {
	if t.Before(Unplanned) || t.After(Never.Add(time.Second-time.Microsecond)) {
		v.addf(field, "is %s; use a time from 1970 to 9999", t.UTC().Format(time.RFC3339))
	}
}

func (v *validator) seconds(field string, d time.Duration) {
	if d < 0 || d%time.Second != 0 || d/time.Second > math.MaxInt32 {
		v.addf(field, "is %s; use whole seconds from 0 to %d", d, math.MaxInt32)
	}
}

// Bounds of the limits, in the table too.
const (
	maxCount     = 1_000_000
	longestLimit = 365 * 24 * time.Hour
	maxLimit     = 10_000 // of CatchupLimit
)

func (v *validator) limits(t *Task) {
	if n := t.RetryLimit; n != nil && (*n < 0 || *n > maxCount) {
		v.addf("retry_limit", "is %d; use 0 to %d", *n, maxCount)
	}
	if n := t.CatchupLimit; n < 0 || n > maxLimit {
		v.addf("catchup_limit", "is %d; use 1 to %d, or 0 for all", n, maxLimit)
	}
	if n := t.PauseAfter; n < 0 || n > maxCount {
		v.addf("pause_after", "is %d; use 1 to %d, or 0 for no pause", n, maxCount)
	}
	v.limit("retry_delay", t.RetryDelay)
	v.limit("timeout", t.Timeout)
}

func (v *validator) limit(field string, d time.Duration) {
	if d < 0 || d%time.Second != 0 || d > longestLimit {
		v.addf(field, "is %s; use whole seconds from 1 to %d, or 0 for none", d, longestLimit/time.Second)
	}
}

func (v *validator) policies(t *Task) {
	for _, c := range policyColumns() {
		if text := c.Get(t).Text; c.Allowed != nil && !slices.Contains(c.Allowed, text) {
			last := len(c.Allowed) - 1
			v.addf(c.Name, "is %q; use %s or %s", text, strings.Join(c.Allowed[:last], ", "), c.Allowed[last])
		}
	}
	if !t.Sink.Valid() {
		v.addf("sink", "is %q; use job, event or the name of a queue: a lower-case letter, then at most %d lower-case letters, digits, '-' and '_'",
			t.Sink, MaxSink-1)
	}
	if t.Priority < math.MinInt32 || t.Priority > math.MaxInt32 {
		v.add("priority", errors.New("is out of range; use 0 for low and 10 for high"))
	}
}
