package config

import (
	"errors"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/periodic"
)

// ParseTasks reads a file of tasks: under the key tasks, a mapping from ids to
// columns. Columns that the file leaves out have their default. The tasks are in
// the order of the file. If something is wrong with the file, the error is an
// [*Error]. ParseTasks does not check timers and policies;
// [periodic.Task.Validate] does.
func ParseTasks(path string, text []byte) ([]periodic.Task, error) {
	tasks := []periodic.Task{}
	err := document(path, text, func(r *reader, root *yaml.Node) {
		r.mapping(root, "", keys{"tasks": func(place string, v *yaml.Node) {
			r.pairs(v, place, func(key, value *yaml.Node) {
				t := periodic.NewTask(key.Value, "", "")
				r.task(join(place, key.Value), value, &t)
				tasks = append(tasks, t)
			})
		}})
	})
	if err != nil {
		return nil, err
	}
	return tasks, nil
}

func (r *reader) task(place string, n *yaml.Node, t *periodic.Task) {
	deadline, retryLimit := time.Duration(-1), -1
	r.mapping(n, place, keys{
		"task":      &t.Task,
		"timer":     &t.Timer,
		"enabled":   &t.Enabled,
		"group":     &t.Group,
		"args":      func(place string, v *yaml.Node) { t.Args = r.args(place, v) },
		"subject":   &t.Subject,
		"submitter": &t.Submitter,
		"priority":  parsed(r, &t.Priority, parsePriority),
		"summary":   &t.Summary,
		"starts":    parsed(r, &t.Starts, ParseTime),
		"ends":      parsed(r, &t.Ends, ParseTime),
		"overlap":   (*string)(&t.Overlap),
		"catchup":   (*string)(&t.Catchup),
		"sink":      (*string)(&t.Sink),
		"grace":     parsed(r, &t.Grace, ParseSeconds),
		"jitter":    parsed(r, &t.Jitter, ParseSeconds),
		"deadline":  parsed(r, &deadline, ParseSeconds),

		"retry_limit": parsed(r, &retryLimit, ParseCount),
		"retry_delay": parsed(r, &t.RetryDelay, ParseSeconds),
		"timeout":     parsed(r, &t.Timeout, ParseSeconds),
		"concurrency": parsed(r, &t.Concurrency, ParseCount),
	})
	if retryLimit >= 0 {
		t.RetryLimit = &retryLimit
	}
	if deadline >= 0 {
		t.Deadline = &deadline
	}
	r.need(n, place, "task", "a ")
	r.need(n, place, "timer", "a ")
}

// parsed reads a scalar. The error of parse is what to use instead.
func parsed[T any](r *reader, field *T, parse func(string) (T, error)) func(string, *yaml.Node) {
	return func(place string, n *yaml.Node) {
		value, err := parse(resolve(n).Value)
		if err != nil {
			r.problem(n, "%s must be %v", place, err)
		}
		*field = value
	}
}

func parsePriority(text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		err = errors.New("a whole number; use 0 for low and 10 for high")
	}
	return int(n), err
}
