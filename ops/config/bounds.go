package config

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/internal/service"
)

// check reports what is wrong with the settings of a mapping. It asks owner, the
// Config that has them; a pointer to one, since check changes it.
//
// Unusable values come first: the errors about them name the bounds. Then they
// take their defaults, and the errors that remain are about the other values.
// Texts and lists that the file lacks are no problem here: either the program adds
// them, such as the name of the process, or the reader of the mapping needs them.
func (r *reader) check(n *yaml.Node, place string, owner interface{ Validate() error }) {
	report := func(e *service.FieldError, key string) {
		at, value := join(place, key), find(n, key)
		switch bound, isNumber := boundInFile(e); {
		case slices.ContainsFunc(r.problems, func(p Problem) bool { return strings.HasPrefix(p.Text, at+" ") }):
			// One problem of a value is enough.
		case value != nil:
			r.problem(value, "%s must be %s", at, bound)
		case isNumber:
			r.problem(n, "%s is %v unless set, but must be %s", at, e.Value, bound)
		}
	}
	for _, e := range service.Fields(owner.Validate()) {
		key := keyOf(e.Field)
		if reset := r.unusable[join(place, key)]; reset != nil {
			report(e, key)
			reset()
		}
	}
	for _, e := range service.Fields(owner.Validate()) {
		report(e, keyOf(e.Field))
	}
}

// renamed has the keys of fields that differ from them in more than the case,
// and what a file has in the place of executor.Never and scheduler.Forever.
var renamed = map[string]string{"Lock": "name", "Argv": "command", "Never": "0", "Forever": "0", "Header": "headers"}

var (
	fieldName = regexp.MustCompile(`\b[A-Z][A-Za-z]+\b`)
	newWord   = regexp.MustCompile(`([a-z])([A-Z])`)
)

// keyOf is the key of a field: retry_min of RetryMin.
func keyOf(field string) string {
	if key, found := renamed[field]; found {
		return key
	}
	return strings.ToLower(newWord.ReplaceAllString(field, "${1}_$2"))
}

// boundInFile is what a file may have in the place of a bad value. It reports
// whether that is a number or a duration.
func boundInFile(e *service.FieldError) (bound string, isNumber bool) {
	bound = fieldName.ReplaceAllStringFunc(e.Use, keyOf)
	switch e.Value.(type) {
	case int:
		return "a whole number from " + bound, true
	case time.Duration:
		return "a duration from " + bound + ", such as 30s, 5m or 1h30m", true
	}
	return e.Use, false
}
