package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// reader takes values out of YAML nodes and records what is wrong with them.
type reader struct {
	problems []Problem
	gone     []Problem // keys that files of the first edition have
	// unusable are the places of numbers and durations that no setting can have.
	// [reader.check] reports them with their bounds. Each function sets the field
	// to its default.
	unusable map[string]func()
}

func (r *reader) problem(n *yaml.Node, format string, args ...any) {
	r.problems = append(r.problems, Problem{n.Line, fmt.Sprintf(format, args...)})
}

// keys are the known keys of a mapping. Each has a pointer to the field that it
// sets, of a type that [reader.value] knows, or a function that reads its value.
type keys map[string]any

// mapping reads a mapping; any other key is a problem.
func (r *reader) mapping(n *yaml.Node, place string, known keys) {
	r.pairs(n, place, func(key, value *yaml.Node) {
		if field, found := known[key.Value]; found {
			r.value(join(place, key.Value), value, field)
			return
		}
		r.problem(key, "unknown key %q in %s; known are %s", key.Value, name(place), strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	})
}

// value reads a value into a field.
func (r *reader) value(place string, n *yaml.Node, field any) {
	switch field := field.(type) {
	case func(place string, n *yaml.Node):
		field(place, n)
	case *string:
		*field = r.text(place, n)
	case *[]string:
		*field = r.texts(place, n)
	case *map[string]string:
		named(r, field, r.text)(place, n)
	case *bool:
		*field = r.boolean(place, n)
	case *int:
		positive(r, place, n, field, math.MaxInt, strconv.Atoi)
	case *time.Duration:
		positive(r, place, n, field, math.MaxInt64, time.ParseDuration)
	case *byteSize:
		*field = byteSize(r.size(place, n))
	default:
		panic(fmt.Sprintf("%s: no way to read a %T", place, field))
	}
}

// pairs calls fn for each key of a mapping. An empty value is an empty mapping.
func (r *reader) pairs(n *yaml.Node, place string, fn func(key, value *yaml.Node)) {
	n = resolve(n)
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.problem(n, "%s must be a mapping of keys to values", name(place))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := resolve(n.Content[i])
		switch {
		case key.Kind != yaml.ScalarNode || key.Value == "":
			r.problem(key, "a key in %s must be a name", name(place))
		case seen[key.Value]:
			r.problem(key, "%q stands twice in %s", key.Value, name(place))
		default:
			seen[key.Value] = true
			fn(key, n.Content[i+1])
		}
	}
}

// named reads a mapping from names to values of one type.
func named[T any](r *reader, values *map[string]T, read func(place string, n *yaml.Node) T) func(string, *yaml.Node) {
	return func(place string, n *yaml.Node) {
		*values = map[string]T{}
		r.pairs(n, place, func(key, value *yaml.Node) { (*values)[key.Value] = read(join(place, key.Value), value) })
	}
}

// find is what a mapping has under a key, or nil.
func find(n *yaml.Node, key string) *yaml.Node {
	n = resolve(n)
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// has reports whether a mapping has a key.
func has(n *yaml.Node, key string) bool { return find(n, key) != nil }

// need reports that a mapping lacks a key.
func (r *reader) need(n *yaml.Node, place, key, article string) {
	if !has(n, key) {
		r.problem(n, "%s needs %s%s", place, article, key)
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func join(place, key string) string {
	if place == "" {
		return key
	}
	return place + "." + key
}

// name is a place in words.
func name(place string) string {
	if place == "" {
		return "the file"
	}
	return place
}
