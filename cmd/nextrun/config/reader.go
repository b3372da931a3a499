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

// reader takes values out of YAML nodes and notes what is wrong with them.
type reader struct{ problems []Problem }

func (r *reader) problem(n *yaml.Node, format string, args ...any) {
	r.problems = append(r.problems, Problem{n.Line, fmt.Sprintf(format, args...)})
}

// keys reads the known keys of a mapping; each function gets the key's value.
type keys map[string]func(place string, value *yaml.Node)

// mapping reads a mapping; any other key is a problem.
func (r *reader) mapping(n *yaml.Node, place string, known keys) {
	r.pairs(n, place, func(key, value *yaml.Node) {
		if read := known[key.Value]; read != nil {
			read(join(place, key.Value), value)
			return
		}
		r.problem(key, "unknown key %q in %s; known are %s", key.Value, name(place),
			strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	})
}

// pairs calls fn for each key of a mapping. An empty value is an empty mapping.
func (r *reader) pairs(n *yaml.Node, place string, fn func(key, value *yaml.Node)) {
	n = resolve(n)
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
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

// text reads a string. Numbers and booleans must be quoted to be one.
func (r *reader) text(place string, n *yaml.Node) string {
	n = resolve(n)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		r.problem(n, "%s must be a text%s", place, quoteHint(n))
		return ""
	}
	if strings.ContainsRune(n.Value, 0) {
		r.problem(n, "%s must not contain a NUL character", place)
	}
	return n.Value
}

func quoteHint(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.Value != "" {
		return fmt.Sprintf("; write %q in quotes", n.Value)
	}
	return ""
}

func (r *reader) texts(place string, n *yaml.Node) []string {
	n = resolve(n)
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.problem(n, "%s must be a list of texts such as [echo, hello]", place)
		return nil
	}
	var list []string
	for i, item := range n.Content {
		list = append(list, r.text(fmt.Sprintf("%s[%d]", place, i), item))
	}
	return list
}

func (r *reader) boolean(place string, n *yaml.Node) bool {
	n = resolve(n)
	if n.Tag != "!!bool" {
		r.problem(n, "%s must be true or false", place)
	}
	return strings.EqualFold(n.Value, "true")
}

func (r *reader) number(place string, n *yaml.Node, least, most int) int {
	n = resolve(n)
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || v < least || v > most {
		r.problem(n, "%s must be a whole number from %d to %d", place, least, most)
		return 0
	}
	return v
}

// numberInto returns a function that reads a number into a field.
func (r *reader) numberInto(field *int, least, most int) func(string, *yaml.Node) {
	return func(place string, n *yaml.Node) { *field = r.number(place, n, least, most) }
}

func (r *reader) duration(place string, n *yaml.Node, least, most time.Duration) time.Duration {
	n = resolve(n)
	d, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || d < least || d > most {
		r.problem(n, "%s must be a duration from %s to %s, such as 30s, 5m or 1h30m", place, least, most)
		return 0
	}
	return d
}

// durationInto returns a function that reads a duration into a field.
func (r *reader) durationInto(field *time.Duration, least, most time.Duration) func(string, *yaml.Node) {
	return func(place string, n *yaml.Node) { *field = r.duration(place, n, least, most) }
}

// sizes are the units of [reader.size].
var sizes = []struct {
	unit   string
	factor int
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}}

func (r *reader) size(place string, n *yaml.Node) int {
	n = resolve(n)
	for _, s := range sizes {
		digits, found := strings.CutSuffix(n.Value, s.unit)
		if !found {
			continue
		}
		v, err := strconv.Atoi(strings.TrimSpace(digits))
		if err == nil && v > 0 && v <= math.MaxInt32/s.factor {
			return v * s.factor
		}
	}
	r.problem(n, "%s must be a number of bytes, such as 65536, 64KiB or 1MiB", place)
	return 0
}

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
