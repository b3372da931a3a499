package config

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
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
	if len(rows) > 0 {
		if err := encode(w, map[string]*yaml.Node{"calendars": calendarsNode(rows)}); err != nil {
			return err
		}
	}
	columns := column.OfUsers(periodic.Columns())
	return writeSection(w, "tasks", func(yield func(string, *yaml.Node) bool) {
		for i := range tasks {
			if !yield(tasks[i].ID, taskNode(&tasks[i], columns)) {
				return
			}
		}
	})
}

// writeSection writes a section entry by entry: a tree of all entries takes a hundred times the memory of the file.
func writeSection(w io.Writer, name string, entries iter.Seq2[string, *yaml.Node]) error {
	out, head, begun := bufio.NewWriter(w), []byte(name+":\n"), false
	for key, value := range entries {
		var one bytes.Buffer
		entry := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{textNode(key), value}}
		if err := encode(&one, map[string]*yaml.Node{name: entry}); err != nil {
			return err
		}
		text := one.Bytes()
		if begun {
			text = bytes.TrimPrefix(text, head)
		}
		begun = true
		_, _ = out.Write(text) // Flush has its error
	}
	if !begun {
		return encode(w, map[string]*yaml.Node{name: {Kind: yaml.MappingNode}})
	}
	return out.Flush()
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
	return writeSection(w, "handlers", func(yield func(string, *yaml.Node) bool) {
		for _, name := range slices.Sorted(maps.Keys(commands)) {
			c := commands[name]
			handler := handlerInFile{Command: c.Argv, Dir: c.Dir, Env: map[string]string{}}
			for _, pair := range c.Env {
				variable, value, _ := strings.Cut(pair, "=")
				handler.Env[variable] = value
			}
			var node yaml.Node
			if err := node.Encode(handler); err != nil || !yield(name, &node) { // texts have no error
				return
			}
		}
	})
}
