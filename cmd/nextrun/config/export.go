package config

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/periodic"
)

// WriteTasks writes a file of tasks for [ParseTasks]. It leaves out columns that
// have their default.
func WriteTasks(w io.Writer, tasks []periodic.Task) error {
	list := &yaml.Node{Kind: yaml.MappingNode}
	for i := range tasks {
		list.Content = append(list.Content, textNode(tasks[i].ID), taskNode(&tasks[i]))
	}
	return encode(w, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{textNode("tasks"), list}})
}

func encode(w io.Writer, root *yaml.Node) error {
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return fmt.Errorf("write YAML: %w", err)
	}
	return encoder.Close()
}

func taskNode(t *periodic.Task) *yaml.Node {
	standard := periodic.NewTask(t.ID, t.Task, t.Timer)
	n := &yaml.Node{Kind: yaml.MappingNode}
	add := func(key string, different bool, value *yaml.Node) {
		if different {
			n.Content = append(n.Content, textNode(key), value)
		}
	}
	add("task", true, textNode(t.Task))
	add("timer", true, textNode(t.Timer))
	add("summary", t.Summary != "", textNode(t.Summary))
	add("enabled", t.Enabled != standard.Enabled, plainNode("!!bool", strconv.FormatBool(t.Enabled)))
	add("group", t.Group != standard.Group, textNode(t.Group))
	add("args", t.Args != standard.Args, argsNode(t.Args))
	add("subject", t.Subject != "", textNode(t.Subject))
	add("submitter", t.Submitter != standard.Submitter, textNode(t.Submitter))
	add("priority", t.Priority != 0, plainNode("!!int", strconv.Itoa(t.Priority)))
	add("starts", !t.Starts.IsZero(), timeNode(t.Starts))
	add("ends", !t.Ends.IsZero(), timeNode(t.Ends))
	add("overlap", t.Overlap != standard.Overlap, textNode(string(t.Overlap)))
	add("catchup", t.Catchup != standard.Catchup, textNode(string(t.Catchup)))
	add("grace", t.Grace != standard.Grace, secondsNode(t.Grace))
	if t.Deadline != nil {
		add("deadline", true, secondsNode(*t.Deadline))
	}
	add("jitter", t.Jitter != 0, secondsNode(t.Jitter))
	add("sink", t.Sink != standard.Sink, textNode(string(t.Sink)))
	if t.RetryLimit != nil {
		add("retry_limit", true, plainNode("!!int", strconv.Itoa(*t.RetryLimit)))
	}
	add("retry_delay", t.RetryDelay != 0, secondsNode(t.RetryDelay))
	add("timeout", t.Timeout != 0, secondsNode(t.Timeout))
	add("concurrency", t.Concurrency != 0, plainNode("!!int", strconv.Itoa(t.Concurrency)))
	return n
}

func plainNode(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

func textNode(text string) *yaml.Node { return plainNode("!!str", text) }

func timeNode(t time.Time) *yaml.Node {
	return plainNode("!!timestamp", t.UTC().Format(time.RFC3339Nano))
}

func secondsNode(d time.Duration) *yaml.Node {
	return plainNode("!!int", strconv.FormatInt(int64(d/time.Second), 10))
}

// argsNode writes JSON objects and lists as they are, since JSON is YAML. If reading
// that would give something else, it writes a text, as for all other args.
func argsNode(args string) *yaml.Node {
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(args), &n); err != nil || len(n.Content) != 1 {
		return textNode(args)
	}
	root := n.Content[0]
	again := (&reader{}).args("args", root)
	if root.Kind == yaml.ScalarNode || !periodic.SameArgs(args, again) {
		return textNode(args)
	}
	return root
}

// WriteHandlers writes the section handlers of a configuration file. All handlers
// must be commands. Of their settings it writes program, variables, directory and
// concurrency.
func WriteHandlers(w io.Writer, handlers map[string]Handler) error {
	list := &yaml.Node{Kind: yaml.MappingNode}
	for _, task := range slices.Sorted(maps.Keys(handlers)) {
		list.Content = append(list.Content, textNode(task), handlerNode(handlers[task]))
	}
	return encode(w, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{textNode("handlers"), list}})
}

func handlerNode(h Handler) *yaml.Node {
	argv := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, word := range h.Command.Argv {
		argv.Content = append(argv.Content, textNode(word))
	}
	n := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{textNode("command"), argv}}
	if h.Command.Dir != "" {
		n.Content = append(n.Content, textNode("dir"), textNode(h.Command.Dir))
	}
	if len(h.Command.Env) > 0 {
		env := &yaml.Node{Kind: yaml.MappingNode}
		for _, pair := range h.Command.Env {
			name, value, _ := strings.Cut(pair, "=")
			env.Content = append(env.Content, textNode(name), textNode(value))
		}
		n.Content = append(n.Content, textNode("env"), env)
	}
	if h.Limits.Concurrency > 0 {
		n.Content = append(n.Content, textNode("concurrency"), plainNode("!!int", strconv.Itoa(h.Limits.Concurrency)))
	}
	return n
}
