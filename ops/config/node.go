package config

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// document is the root of the only YAML document of a file: null if there is nothing in it.
func document(text []byte) (*yaml.Node, *Problem) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var first, more yaml.Node
	switch err := decoder.Decode(&first); {
	case errors.Is(err, io.EOF):
		return &yaml.Node{Tag: "!!null"}, nil
	case err != nil:
		wrong := problemOf(err)
		return nil, &wrong
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &Problem{Line: more.Line, Text: "the file must hold one YAML document"}
	}
	asTexts(&first)
	return first.Content[0], nil
}

// asTexts makes texts of dates and of keys, as they are in JSON.
func asTexts(n *yaml.Node) {
	for i, child := range n.Content {
		isKey := n.Kind == yaml.MappingNode && i%2 == 0
		if child.Kind == yaml.ScalarNode && (isKey || child.Tag == "!!timestamp") {
			child.Tag = "!!str"
		}
		asTexts(child)
	}
}

var libraryError = regexp.MustCompile(`^yaml: (?:unmarshal errors:\s+)?(?:line (\d+): )?(.*)`)

// problemOf is what the library says is wrong.
func problemOf(err error) Problem {
	found := libraryError.FindStringSubmatch(err.Error())
	if found == nil {
		return Problem{Text: err.Error()}
	}
	line, _ := strconv.Atoi(found[1]) // none: 0
	return Problem{line, found[2]}
}

// target is what an alias stands for, or the node itself.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// find is what a mapping has under a key, or nil.
func find(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if target(n.Content[i]).Value == key {
			return target(n.Content[i+1])
		}
	}
	return nil
}
