package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/internal/service"
)

// owner is a struct that knows the bounds of its fields.
type owner interface{ Validate() error }

// check reports what the owner of settings says is wrong with those that a mapping can set. One problem of a value is enough.
func (r *reader) check(n *yaml.Node, place string, owner owner) {
	for _, e := range service.Fields(owner.Validate()) {
		key := keyOf(owner, e.Field)
		at, value := join(place, key), find(n, key)
		said := func(p Problem) bool { return strings.HasPrefix(p.Text, at+" ") }
		switch bound, isNumber := boundInFile(owner, e); {
		case key == "" || r.lacking[at] != nil || slices.ContainsFunc(r.problems, said):
		case value != nil:
			r.problem(value, "%s must be %s", at, bound)
		case isNumber:
			r.problem(n, "%s is %v unless set, but must be %s", at, e.Value, bound)
		default:
			r.problem(n, "%s needs %s, %s", place, key, bound)
		}
	}
}

// keyOf is the key of a field, or empty if no file can set it.
func keyOf(owner owner, field string) string {
	f, _ := reflect.Indirect(reflect.ValueOf(owner)).Type().FieldByName(field)
	return f.Tag.Get("yaml")
}

var fieldName = regexp.MustCompile(`\b[A-Z][A-Za-z]+\b`)

// inFile is what a file has in the place of values of Go.
var inFile = strings.NewReplacer("Never", "0", "Forever", "0", "negative", "0")

// boundInFile is what a file may have in the place of a bad value. It reports
// whether that is a number or a duration.
func boundInFile(owner owner, e *service.FieldError) (bound string, isNumber bool) {
	bound = fieldName.ReplaceAllStringFunc(inFile.Replace(e.Use), func(field string) string { return keyOf(owner, field) })
	switch e.Value.(type) {
	case int:
		return "a whole number from " + bound, true
	case time.Duration:
		return "a duration from " + bound + ", such as 30s, 5m or 1h30m", true
	}
	return e.Use, false
}
