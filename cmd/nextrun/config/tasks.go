package config

import (
	"math"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/periodic"
)

// ParseTasks reads a file of tasks: a mapping `tasks` from ids to the columns
// that are not default. The tasks are in the order of the file. Problems of the
// file give an [*Error]; whether timers and the like are good is for
// [periodic.Task.Validate] to say.
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
	var overlap, catchup, sink string
	r.mapping(n, place, keys{
		"task":      r.textInto(&t.Task),
		"timer":     r.textInto(&t.Timer),
		"enabled":   func(place string, v *yaml.Node) { t.Enabled = r.boolean(place, v) },
		"group":     r.textInto(&t.Group),
		"args":      func(place string, v *yaml.Node) { t.Args = r.args(place, v) },
		"subject":   r.textInto(&t.Subject),
		"submitter": r.textInto(&t.Submitter),
		"priority":  r.numberInto(&t.Priority, math.MinInt32, math.MaxInt32),
		"summary":   r.textInto(&t.Summary),
		"starts":    r.timeInto(&t.Starts),
		"ends":      r.timeInto(&t.Ends),
		"overlap":   r.textInto(&overlap),
		"catchup":   r.textInto(&catchup),
		"sink":      r.textInto(&sink),
		"grace":     r.secondsInto(&t.Grace),
		"jitter":    r.secondsInto(&t.Jitter),
		"deadline": func(place string, v *yaml.Node) {
			t.Deadline = new(time.Duration)
			r.secondsInto(t.Deadline)(place, v)
		},
	})
	if overlap != "" {
		t.Overlap = periodic.Overlap(overlap)
	}
	if catchup != "" {
		t.Catchup = periodic.Catchup(catchup)
	}
	if sink != "" {
		t.Sink = periodic.Sink(sink)
	}
	for _, required := range []string{"task", "timer"} {
		if !has(n, required) {
			r.problem(n, "%s needs a %s", place, required)
		}
	}
}

func (r *reader) textInto(field *string) func(string, *yaml.Node) {
	return func(place string, n *yaml.Node) { *field = r.text(place, n) }
}

func (r *reader) timeInto(field *time.Time) func(string, *yaml.Node) {
	return func(place string, n *yaml.Node) {
		t, err := ParseTime(resolve(n).Value)
		if err != nil {
			r.problem(n, "%s must be %v", place, err)
		}
		*field = t
	}
}

func (r *reader) secondsInto(field *time.Duration) func(string, *yaml.Node) {
	return func(place string, n *yaml.Node) {
		d, err := ParseSeconds(resolve(n).Value)
		if err != nil {
			r.problem(n, "%s must be %v", place, err)
		}
		*field = d
	}
}
