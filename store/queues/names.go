package queues

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// identifier is what a name of a schema or of a queue's table may consist of. PostgreSQL
// cuts names after 63 bytes.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,62}$`)

// checkIdentifier notes a value that becomes an identifier and cannot; it may be empty.
func checkIdentifier(c *service.Check, field, name string) {
	c.Field(name == "" || identifier.MatchString(name), field, fmt.Sprintf("%q", name),
		"a name of up to 63 letters, digits, _ and - that begins with a letter or _")
}

// checkName notes a name that is too long.
func checkName(c *service.Check, field, name string, most int) {
	c.Field(utf8.ValidString(name) && !strings.ContainsRune(name, 0) && utf8.RuneCountInString(name) <= most,
		field, fmt.Sprintf("%q", name), fmt.Sprintf("a name of up to %d characters", most))
}

// checkAttempts notes a number of attempts that a smallint does not hold.
func checkAttempts(c *service.Check, attempts int) {
	if attempts != 0 {
		service.Within(c, "MaxAttempts", attempts, 1, math.MaxInt16)
	}
}

// goneStates are the ends of a job that is gone, by what people call them.
var goneStates = map[string]sink.EndState{"success": sink.EndGone, "failed": sink.EndFailed, "unknown": sink.EndUnknown}

func checkGone(c *service.Check, gone string) {
	c.Field(gone == "" || goneStates[gone] != "", "Gone", fmt.Sprintf("%q", gone), "success, failed or unknown")
}

// goneState is how a job ended that is gone.
func goneState(gone, otherwise string) sink.EndState { return goneStates[cmp.Or(gone, otherwise)] }

// literal is a text as a literal. The names that come here hold no backslash.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// qualified is a table, a type or a function with its schema, which may be empty.
func qualified(schema, name string) string {
	if schema == "" {
		return `"` + name + `"`
	}
	return `"` + schema + `"."` + name + `"`
}

// badPriority says why a job's priority cannot be mapped.
func badPriority(j jobqueue.Job) string {
	if j.Priority < jobqueue.PriorityLow || j.Priority > jobqueue.PriorityHigh {
		return fmt.Sprintf("priority is %d, and not between %d and %d", j.Priority, jobqueue.PriorityLow, jobqueue.PriorityHigh)
	}
	return ""
}
