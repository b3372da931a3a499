package cronjob

import (
	"strconv"

	"go.yaml.in/yaml/v3"
)

// node is a value of a document; nil: there is none. It does not follow aliases further
// than to their anchor, so that a document costs what it is long.
type node struct{ *yaml.Node }

func (n node) is(kind yaml.Kind) bool { return n.Node != nil && n.Kind == kind }

func (n node) line() int {
	if n.Node == nil {
		return 0
	}
	return n.Line
}

// maxWeight is the weight of a document that takes some seconds to read.
const maxWeight = 20_000_000

// weight is the number of values that a reader meets who follows the aliases. It is more
// than maxWeight if one contains itself. known are the weights of those that were seen.
func (n node) weight(known map[*yaml.Node]int) int {
	if n.Node == nil {
		return 0
	}
	if w, seen := known[n.Node]; seen {
		return w
	}
	known[n.Node] = maxWeight + 1 // as long as its parts are weighed
	w := 1
	if n.Kind == yaml.AliasNode {
		w += resolved(n.Node).weight(known)
	}
	for _, c := range n.Content {
		if w += (node{c}).weight(known); w > maxWeight {
			w = maxWeight + 1
			break
		}
	}
	known[n.Node] = w
	return w
}

func resolved(n *yaml.Node) node {
	if n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return node{n}
}

// get is the value of a key. Of repeated keys the last one counts.
func (n node) get(key string) (value node) {
	if !n.is(yaml.MappingNode) {
		return node{}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			value = resolved(n.Content[i+1])
		}
	}
	return value
}

// at is the value at a path of keys.
func (n node) at(keys ...string) node {
	for _, key := range keys {
		n = n.get(key)
	}
	return n
}

// keys are those of a mapping.
func (n node) keys() (list []string) {
	if !n.is(yaml.MappingNode) {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		list = append(list, n.Content[i].Value)
	}
	return list
}

func (n node) list() (list []node) {
	if !n.is(yaml.SequenceNode) {
		return nil
	}
	for _, c := range n.Content {
		list = append(list, resolved(c))
	}
	return list
}

// text is a scalar as a text, "" for null.
func (n node) text() string {
	if !n.is(yaml.ScalarNode) || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

// isSet reports whether there is a value that is not null or empty.
func (n node) isSet() bool {
	return n.Node != nil && (n.text() != "" || len(n.Content) > 0)
}

// integer is a whole number; !ok: it is none.
func (n node) integer() (value int, ok bool) {
	value, err := strconv.Atoi(n.text())
	return value, err == nil
}
