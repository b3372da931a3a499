package queues

import (
	"fmt"
	"regexp"
	"strings"
)

// identifier is what a name of a schema, a table or a queue's table may consist of.
// PostgreSQL cuts names after 63 bytes.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,62}$`)

// checkIdentifier checks the value of a field that becomes an identifier; it may be
// empty.
func checkIdentifier(field, name string) error {
	if name != "" && !identifier.MatchString(name) {
		return fmt.Errorf("%s: %q is not a name: use a letter or _, then letters, digits, _ and -, up to 63 characters", field, name)
	}
	return nil
}

// quote is an identifier with its quotes.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// literal is a text as a literal. The names that come here hold no backslash.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// qualified is a table, a type or a function with its schema, which may be empty.
func qualified(schema, name string) string {
	if schema == "" {
		return quote(name)
	}
	return quote(schema) + "." + quote(name)
}
