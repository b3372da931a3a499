package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// forms are those of fields that their type does not tell: the tag form names them.
var forms = map[string]func(reflect.Value) any{
	"orzero": func(field reflect.Value) any { return orZero{field} },
	"secret": func(field reflect.Value) any { return secret{field.Addr().Interface(), false} }, // a text with references, such as a URL
	"key":    func(field reflect.Value) any { return secret{field.Addr().Interface(), true} },  // one or several, which must be references
}

// text reads a string. Numbers and truth values must be quoted to be one.
func (r *reader) text(place string, n *yaml.Node) string {
	switch {
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null":
		r.problem(n, "%s must be a text", place)
	case n.Tag != "!!str":
		r.problem(n, "%s must be a text; write %q in quotes", place, n.Value)
	case strings.ContainsRune(n.Value, 0):
		r.problem(n, "%s must not contain a NUL character", place)
	}
	return n.Value
}

func (r *reader) texts(place string, n *yaml.Node) (texts []string) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.problem(n, "%s must be a list of texts such as [echo, hello]; a text is not split into words", place)
		return nil
	}
	for i, item := range n.Content {
		texts = append(texts, r.text(fmt.Sprintf("%s[%d]", place, i), target(item)))
	}
	return texts
}

func (r *reader) boolean(place string, n *yaml.Node) (truth bool) {
	if n.Tag != "!!bool" || n.Decode(&truth) != nil {
		r.problem(n, "%s must be true or false", place)
	}
	return truth
}

// positive reads a number or a duration above 0, which stands for the default in a Config, but not
// in a file; or says what else may be there. The owner of the setting knows its bounds.
func (r *reader) positive(place string, n *yaml.Node, field reflect.Value, or string) {
	value, err := strconv.ParseInt(n.Value, 10, 0)
	use := "a whole number from 1 on" + or
	if field.Type() == reflect.TypeFor[time.Duration]() {
		var d time.Duration
		d, err = time.ParseDuration(n.Value)
		value, use = int64(d), "a duration above 0"+or+", such as 30s, 5m or 1h30m"
	}
	if err != nil || value <= 0 {
		r.problem(n, "%s must be %s", place, use)
		return
	}
	field.SetInt(value)
}

// orZero is a number or a duration that may be 0, which a Config has as -1: never, for ever, none.
type orZero struct{ field reflect.Value }

func (z orZero) read(r *reader, place string, n *yaml.Node) {
	if d, err := time.ParseDuration(n.Value); err != nil || d != 0 {
		r.positive(place, n, z.field, ", or 0")
		return
	}
	z.field.SetInt(-1)
}
