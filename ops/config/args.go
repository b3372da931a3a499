package config

import (
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// maxArgsNodes bounds the number of values in the args of a task. Aliases count
// each time, so that a small file cannot become huge.
const maxArgsNodes = 100_000

// args reads the args of a task. A text stays as it is; anything else is written as
// JSON.
func (r *reader) args(place string, n *yaml.Node) string {
	n = resolve(n)
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		return r.text(place, n)
	}
	nodes := 0
	value, err := jsonValue(n, &nodes)
	if err != nil {
		r.problem(n, "%s: %v", place, err)
		return ""
	}
	text, err := json.Marshal(value)
	if err != nil {
		r.problem(n, "%s cannot be JSON: %v", place, err)
	}
	return string(text)
}

// jsonValue is a YAML value for encoding/json. Dates stay texts.
func jsonValue(n *yaml.Node, nodes *int) (any, error) {
	n = resolve(n)
	if *nodes++; *nodes > maxArgsNodes {
		return nil, fmt.Errorf("more than %d values", maxArgsNodes)
	}
	switch n.Kind {
	case yaml.MappingNode:
		object := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			value, err := jsonValue(n.Content[i+1], nodes)
			if err != nil {
				return nil, err
			}
			object[resolve(n.Content[i]).Value] = value
		}
		return object, nil
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			value, err := jsonValue(item, nodes)
			if err != nil {
				return nil, err
			}
			list[i] = value
		}
		return list, nil
	}
	switch n.Tag {
	case "!!int", "!!float", "!!bool", "!!null":
		var value any
		err := n.Decode(&value)
		return value, err
	}
	return n.Value, nil
}
