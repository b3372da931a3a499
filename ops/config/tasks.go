package config

import (
	"cmp"
	"encoding/json"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
)

// TaskFile is what a file of tasks says.
type TaskFile struct {
	Tasks     []periodic.Task // in the order of the file
	Calendars []days.Row
}

// ParseTasks reads a file of tasks: under the key tasks, a mapping from ids to
// columns; under the key calendars, one from names to days and their reasons.
// Columns that the file leaves out have their default. If something is wrong with the file, the error is an
// [*Error]. ParseTasks does not check timers and policies;
// [periodic.Task.Validate] does.
func ParseTasks(path string, text []byte) (TaskFile, error) {
	var file TaskFile
	err := read(path, text, nil, func(r *reader, root *yaml.Node) {
		r.mapping(root, "", keys{
			"tasks": func(place string, v *yaml.Node) {
				r.pairs(v, place, func(key, value *yaml.Node) {
					t := periodic.NewTask(key.Value, "", "")
					r.task(join(place, key.Value), value, &t)
					file.Tasks = append(file.Tasks, t)
				})
			},
			"calendars": func(place string, v *yaml.Node) {
				r.pairs(v, place, func(key, value *yaml.Node) {
					file.Calendars = append(file.Calendars, r.calendar(join(place, key.Value), key.Value, value)...)
				})
			},
		})
	})
	return file, err
}

// calendar reads the rows of a calendar: from when they hold to their reasons.
func (r *reader) calendar(place, name string, n *yaml.Node) (rows []days.Row) {
	r.pairs(n, place, func(key, value *yaml.Node) {
		row, err := days.ParseWhen(key.Value)
		if row.Name = name; value.Tag != "!!null" {
			row.Reason = r.text(join(place, key.Value), value)
		}
		if err == nil {
			err = row.Validate()
		}
		if err != nil {
			r.problem(key, "%s: %v", place, err)
		}
		rows = append(rows, row)
	})
	if len(rows) == 0 {
		r.problem(n, "%s has no days", place)
	}
	return rows
}

func (r *reader) task(place string, n *yaml.Node, t *periodic.Task) {
	known := keys{}
	for _, c := range column.OfUsers(periodic.Columns()) {
		if c.Name != "id" { // it is the key of the task
			known[c.Name] = func(place string, v *yaml.Node) { c.Set(t, r.column(place, v, c)) }
		}
	}
	r.mapping(n, place, known)
	for _, key := range []string{"handler", "timer"} {
		if find(n, key) == nil {
			r.problem(n, "%s needs a %s", place, key)
		}
	}
}

// column reads the value of a column.
func (r *reader) column(place string, n *yaml.Node, c periodic.Column) column.Value {
	switch c.Kind {
	case column.Text:
		return column.Value{Kind: c.Kind, Text: r.text(place, n)}
	case column.JSON:
		return column.Value{Kind: c.Kind, Text: r.args(place, n)}
	case column.Truth:
		return column.Of(r.boolean(place, n))
	}
	v, err := column.Parse(c.Kind, n.Value)
	if err != nil {
		r.problem(n, "%s must be %v", place, err)
	}
	return v
}

// args reads the args of a task. A text stays as it is; anything else is written as JSON. Aliases cannot make a small file
// huge.
func (r *reader) args(place string, n *yaml.Node) string {
	switch {
	case n.Tag == "!!str":
		return r.text(place, n)
	case r.most > 0 && r.made > r.most: // said already
		return ""
	}
	var value any
	var text []byte
	err := n.Decode(&value)
	if err == nil {
		text, err = json.Marshal(value)
	}
	if err != nil {
		p := problemOf(err)
		r.problems = append(r.problems, Problem{cmp.Or(p.Line, n.Line), place + " cannot be JSON: " + p.Text})
	}
	if r.made += len(text); r.most > 0 && r.made > r.most {
		r.problem(n, "%s: aliases repeat too much; with it, the args are more than %d times as large as the file", place, aliased)
	}
	return string(text)
}
