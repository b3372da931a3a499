package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// owner is a struct that knows the bounds of its fields.
type owner interface{ Validate() error }

// check reports what the owner of settings says is wrong with them, which a mapping
// has. Texts and lists that the file lacks are no problem here: either the program adds
// them, such as the name of the process, or the reader of the mapping needs them.
func (r *reader) check(n *node, place string, owner owner) {
	for _, e := range service.Fields(owner.Validate()) {
		r.out(n, place, owner, e)
	}
}

// out reports a field that is out of bounds.
func (r *reader) out(n *node, place string, owner owner, e *service.FieldError) {
	key := keyOf(owner, e.Field)
	at, value := join(place, key), n.find(key)
	_, lacks := r.lacking[at]
	switch bound, isNumber := boundInFile(owner, e); {
	case lacks:
	case slices.ContainsFunc(r.problems, func(p Problem) bool { return strings.HasPrefix(p.Text, at+" ") }):
		// One problem of a value is enough.
	case value != nil:
		r.problem(value, "%s must be %s", at, bound)
	case isNumber:
		r.problem(n, "%s is %v unless set, but must be %s", at, e.Value, bound)
	}
}

var (
	fieldName = regexp.MustCompile(`\b[A-Z][A-Za-z]+\b`)
	newWord   = regexp.MustCompile(`([a-z])([A-Z])`)
)

// keyOf is the key of a field: that of its tag, or retry_min for RetryMin.
func keyOf(owner owner, field string) string {
	if f, found := reflect.Indirect(reflect.ValueOf(owner)).Type().FieldByName(field); found && f.Tag.Get("yaml") != "" {
		return f.Tag.Get("yaml")
	}
	return strings.ToLower(newWord.ReplaceAllString(field, "${1}_$2"))
}

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
