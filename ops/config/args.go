package config

import (
	"encoding/json"
	"fmt"
)

// maxArgsNodes bounds the number of values in the args of a task. Aliases count
// each time, so that a small file cannot become huge.
const maxArgsNodes = 100_000

// args reads the args of a task. A text stays as it is; anything else is written as
// JSON.
func (r *reader) args(place string, n *node) string {
	if n.kind == isText {
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

// jsonValue is a value for encoding/json. Dates stay texts.
func jsonValue(n *node, nodes *int) (value any, err error) {
	if *nodes++; *nodes > maxArgsNodes {
		return nil, fmt.Errorf("more than %d values", maxArgsNodes)
	}
	switch n.kind {
	case isMapping:
		object := map[string]any{}
		for _, p := range n.pairs {
			if object[p.key.text], err = jsonValue(p.value, nodes); err != nil {
				return nil, err
			}
		}
		return object, nil
	case isList:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			if list[i], err = jsonValue(item, nodes); err != nil {
				return nil, err
			}
		}
		return list, nil
	case isText:
		return n.text, nil
	}
	if json.Valid([]byte(n.text)) { // it has more digits than a value of Go
		return json.RawMessage(n.text), nil
	}
	return n.plain, nil
}
