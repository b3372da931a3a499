package config

import (
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// node is a value of a file, with what the reader asks of it. An alias has the
// items and pairs of what it stands for.
type node struct {
	line  int
	kind  nodeKind
	text  string // of a scalar, without quotes
	plain any    // of a plain one: what it is in JSON
	items []*node
	pairs []pair
}

type pair struct{ key, value *node }

type nodeKind int

const (
	isNull    nodeKind = iota // also what the file leaves out
	isText                    //
	isPlain                   // a number, a truth value or a date
	isList                    //
	isMapping                 //
)

// document is the root of the only YAML document of a file: null if there is nothing in it.
func document(text []byte) (*node, *Problem) {
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	var first, more yaml.Node
	switch err := decoder.Decode(&first); {
	case errors.Is(err, io.EOF):
		return &node{}, nil
	case err != nil:
		return nil, problemOf(err)
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &Problem{Line: more.Line, Text: "the file must hold one YAML document"}
	}
	return tree{}.node(first.Content[0]), nil
}

var parserError = regexp.MustCompile(`^yaml: line (\d+): (.*)`)

// problemOf is what the parser says is wrong.
func problemOf(err error) *Problem {
	if found := parserError.FindStringSubmatch(err.Error()); found != nil {
		line, _ := strconv.Atoi(found[1])
		return &Problem{line, found[2]}
	}
	return &Problem{Text: err.Error()}
}

// tree are the nodes of what the parser found. Aliases share them.
type tree map[*yaml.Node]*node

func (t tree) node(n *yaml.Node) *node {
	if n.Kind == yaml.AliasNode {
		return t.node(n.Alias)
	}
	if t[n] != nil {
		return t[n]
	}
	made := &node{line: n.Line, text: n.Value}
	t[n] = made
	switch {
	case n.Kind == yaml.MappingNode:
		made.kind = isMapping
		for i := 0; i+1 < len(n.Content); i += 2 {
			made.pairs = append(made.pairs, pair{t.node(n.Content[i]), t.node(n.Content[i+1])})
		}
	case n.Kind == yaml.SequenceNode:
		made.kind = isList
		for _, item := range n.Content {
			made.items = append(made.items, t.node(item))
		}
	case n.Tag == "!!str":
		made.kind = isText
	case n.Tag != "!!null":
		made.kind, made.plain = isPlain, n.Value
		if n.Tag == "!!int" || n.Tag == "!!float" || n.Tag == "!!bool" {
			_ = n.Decode(&made.plain) // or the text stays
		}
	}
	return made
}

// find is what a mapping has under a key, or nil.
func (n *node) find(key string) *node {
	for _, p := range n.pairs {
		if p.key.text == key {
			return p.value
		}
	}
	return nil
}

// has reports whether a mapping has a key.
func (n *node) has(key string) bool { return n.find(key) != nil }
