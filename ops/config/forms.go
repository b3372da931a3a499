package config

import (
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// inForm is a field in the form that its tag names; of none, the field itself.
//
//	bytes    a size, which may have a unit
//	orzero   a number or a duration, whose 0 is -1 in the struct: never, for ever, none
//	method   a method of HTTP
//	headers  headers of HTTP
//	secret   a text, or a list of texts, with secrets
//	program  a program and its arguments
func inForm(field any, form string) any {
	switch form {
	case "bytes":
		return (*byteSize)(field.(*int))
	case "orzero":
		return orZero{field}
	case "method":
		return (*method)(field.(*string))
	case "headers":
		return (*headers)(field.(*http.Header))
	case "secret":
		if list, ok := field.(*[]string); ok {
			return (*secretList)(list)
		}
		return (*secretText)(field.(*string))
	case "program":
		return (*program)(field.(*[]string))
	}
	return field
}

// text reads a string. Numbers and booleans must be quoted to be one.
func (r *reader) text(place string, n *node) string {
	switch {
	case n.kind == isPlain:
		r.problem(n, "%s must be a text; write %q in quotes", place, n.text)
	case n.kind != isText:
		r.problem(n, "%s must be a text", place)
	case strings.ContainsRune(n.text, 0):
		r.problem(n, "%s must not contain a NUL character", place)
	}
	return n.text
}

func (r *reader) texts(place string, n *node) (texts []string) {
	if len(n.items) == 0 {
		r.problem(n, "%s must be a list of texts such as [echo, hello]", place)
	}
	for i, item := range n.items {
		texts = append(texts, r.text(fmt.Sprintf("%s[%d]", place, i), item))
	}
	return texts
}

// oneOrMore reads a text, or a list of them.
func (r *reader) oneOrMore(place string, n *node) []string {
	if n.kind == isList {
		return r.texts(place, n)
	}
	return []string{r.text(place, n)}
}

func (r *reader) boolean(place string, n *node) bool {
	truth, ok := n.plain.(bool)
	if !ok {
		r.problem(n, "%s must be true or false", place)
	}
	return truth
}

// positive reads a number or a duration above 0, which stands for the default in a Config, but not
// in a file; or says what else may be there. The owner of the setting knows its bounds.
func (r *reader) positive(place string, n *node, field any, or string) {
	switch field := field.(type) {
	case *int:
		above0(r, place, n, field, strconv.Atoi, "a whole number from 1 on"+or)
	case *time.Duration:
		above0(r, place, n, field, time.ParseDuration, "a duration above 0"+or+", such as 30s, 5m or 1h30m")
	}
}

func above0[T int | time.Duration](r *reader, place string, n *node, field *T, parse func(string) (T, error), use string) {
	v, err := parse(n.text)
	if err != nil || v <= 0 {
		r.problem(n, "%s must be %s", place, use)
		return
	}
	*field = v
}

// orZero is a number or a duration that may be 0, which a Config has as -1.
type orZero struct{ field any }

func (z orZero) read(r *reader, place string, n *node) {
	if d, err := time.ParseDuration(n.text); err != nil || d != 0 {
		r.positive(place, n, z.field, ", or 0")
		return
	}
	reflect.ValueOf(z.field).Elem().SetInt(-1)
}

// byteSize is a number of bytes, which a file may give with a unit.
type byteSize int

// units are those of a [byteSize].
var units = []struct {
	unit   string
	factor int
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}}

func (b *byteSize) read(r *reader, place string, n *node) {
	for _, u := range units {
		digits, found := strings.CutSuffix(n.text, u.unit)
		v, err := strconv.Atoi(strings.TrimSpace(digits))
		if found && err == nil && v > 0 && v <= math.MaxInt32/u.factor {
			*b = byteSize(v * u.factor)
			return
		}
	}
	r.problem(n, "%s must be a number of bytes, such as 65536, 64KiB or 1MiB", place)
}

type method string

func (m *method) read(r *reader, place string, n *node) {
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}
	if *m = method(r.text(place, n)); !slices.Contains(methods, string(*m)) {
		r.problem(n, "%s must be one of %s", place, strings.Join(methods, ", "))
	}
}

type program []string

func (p *program) read(r *reader, place string, n *node) {
	if n.kind == isText || n.kind == isPlain {
		r.problem(n, "%s must be a list of the program and its arguments, such as [echo, hello]; "+
			"there is no shell that would split a text", place)
		return
	}
	if *p = r.texts(place, n); len(*p) > 0 && (*p)[0] == "" {
		r.problem(n, "%s must begin with a program", place)
	}
}
