package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

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

// positive reads a number or a duration above 0. Anything else, such as 0, which
// stands for the default in a Config but not in a file, becomes a value that is
// out of bounds everywhere.
func positive[T int | time.Duration](r *reader, place string, n *yaml.Node, field *T, excessive T, parse func(string) (T, error)) {
	v, err := parse(resolve(n).Value)
	if *field = v; err != nil || v <= 0 {
		*field = excessive
		r.unusable[place] = func() { *field = 0 }
	}
}

// orZero reads a number or a duration that may be 0, for which the Config has
// another value.
func orZero[T int | time.Duration](r *reader, field *T, zero T) func(string, *yaml.Node) {
	return func(place string, n *yaml.Node) {
		if d, err := time.ParseDuration(resolve(n).Value); err == nil && d == 0 {
			*field = zero
			return
		}
		r.value(place, n, field)
	}
}

// byteSize is a number of bytes, which a file may give with a unit.
type byteSize int

// units are those of [reader.size].
var units = []struct {
	unit   string
	factor int
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}}

func (r *reader) size(place string, n *yaml.Node) int {
	n = resolve(n)
	for _, u := range units {
		digits, found := strings.CutSuffix(n.Value, u.unit)
		if !found {
			continue
		}
		v, err := strconv.Atoi(strings.TrimSpace(digits))
		if err == nil && v > 0 && v <= math.MaxInt32/u.factor {
			return v * u.factor
		}
	}
	r.problem(n, "%s must be a number of bytes, such as 65536, 64KiB or 1MiB", place)
	return 0
}
