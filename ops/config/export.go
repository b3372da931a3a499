package config

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
)

// WriteTasks writes a file of tasks and calendars for [ParseTasks]. It leaves out columns that
// have their default.
func WriteTasks(w io.Writer, tasks []periodic.Task, rows []days.Row) error {
	root := &yaml.Node{Kind: yaml.MappingNode}
	if len(rows) > 0 {
		root.Content = append(root.Content, textNode("calendars"), calendarsNode(rows))
	}
	list, columns := &yaml.Node{Kind: yaml.MappingNode}, column.OfUsers(periodic.Columns())
	for i := range tasks {
		list.Content = append(list.Content, textNode(tasks[i].ID), taskNode(&tasks[i], columns))
	}
	root.Content = append(root.Content, textNode("tasks"), list)
	return encode(w, root)
}

// calendarsNode has the days of each calendar with their reasons.
func calendarsNode(rows []days.Row) *yaml.Node {
	list := &yaml.Node{Kind: yaml.MappingNode}
	var calendar *yaml.Node
	for i, r := range rows {
		if i == 0 || r.Name != rows[i-1].Name {
			calendar = &yaml.Node{Kind: yaml.MappingNode}
			list.Content = append(list.Content, textNode(r.Name), calendar)
		}
		calendar.Content = append(calendar.Content, textNode(r.When()), textNode(r.Reason))
	}
	return list
}

func encode(w io.Writer, root any) error {
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return fmt.Errorf("write YAML: %w", err)
	}
	return encoder.Close()
}

func taskNode(t *periodic.Task, columns []periodic.Column) *yaml.Node {
	standard := periodic.NewTask(t.ID, "", "")
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, c := range columns {
		if v := c.Get(t); v != c.Get(&standard) || c.Name == "handler" || c.Name == "timer" {
			n.Content = append(n.Content, textNode(c.Name), valueNode(v))
		}
	}
	return n
}

// tags are those of values that are no texts and no whole numbers.
var tags = map[column.Kind]string{column.Truth: "!!bool", column.Time: "!!timestamp"}

func valueNode(v column.Value) *yaml.Node {
	switch v.Kind {
	case column.Text:
		return textNode(v.Text)
	case column.JSON:
		return argsNode(v.Text)
	}
	return plainNode(cmp.Or(tags[v.Kind], "!!int"), v.String())
}

func plainNode(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

func textNode(text string) *yaml.Node { return plainNode("!!str", text) }

// argsNode writes JSON objects and lists as they are, since JSON is YAML. If reading
// that would give something else, it writes a text, as for all other args.
func argsNode(args string) *yaml.Node {
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(args), &n); err != nil || len(n.Content) != 1 {
		return textNode(args)
	}
	asTexts(&n)
	root := n.Content[0]
	if root.Kind == yaml.ScalarNode || !column.SameJSON(args, (&reader{}).args("args", root)) {
		return textNode(args)
	}
	return root
}

// handlerInFile is a command in the section handlers, as [WriteHandlers] writes it.
type handlerInFile struct {
	Command []string          `yaml:"command,flow"`
	Dir     string            `yaml:"dir,omitempty"`
	Env     map[string]string `yaml:"env,omitempty"`
}

// WriteHandlers writes the section handlers of a configuration file for commands, of which it
// writes program, variables and directory.
func WriteHandlers(w io.Writer, commands map[string]*handlers.CommandConfig) error {
	section := map[string]handlerInFile{}
	for name, c := range commands {
		handler := handlerInFile{Command: c.Argv, Dir: c.Dir, Env: map[string]string{}}
		for _, pair := range c.Env {
			variable, value, _ := strings.Cut(pair, "=")
			handler.Env[variable] = value
		}
		section[name] = handler
	}
	return encode(w, map[string]any{"handlers": section})
}
