package foreign

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// identifier is what a name of a schema, a table or a queue's table may consist of.
// PostgreSQL cuts names after 63 bytes.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,62}$`)

// IsIdentifier reports whether a name can be that of a table.
func IsIdentifier(name string) bool { return identifier.MatchString(name) }

// CheckIdentifier notes a value that becomes an identifier and cannot; it may be
// empty.
func CheckIdentifier(p *service.Check, field, name string) {
	p.Field(name == "" || identifier.MatchString(name), field, fmt.Sprintf("%q", name),
		"a name of up to 63 letters, digits, _ and - that begins with a letter or _")
}

// CheckName notes a name that is too long.
func CheckName(p *service.Check, field, name string, most int) {
	p.Field(utf8.ValidString(name) && !strings.ContainsRune(name, 0) && utf8.RuneCountInString(name) <= most,
		field, fmt.Sprintf("%q", name), fmt.Sprintf("a name of up to %d characters", most))
}

// CheckAttempts notes a number of attempts that a smallint does not hold.
func CheckAttempts(p *service.Check, field string, attempts int) {
	if attempts != 0 {
		service.Within(p, field, attempts, 1, math.MaxInt16)
	}
}

// CheckGone notes a word that does not say how a job ended that is gone.
func CheckGone(p *service.Check, gone string) {
	p.Field(gone == "" || goneStates[gone] != "", "Gone", fmt.Sprintf("%q", gone), "success, failed or unknown")
}

// goneStates are the ends of a job that is gone, by what people call them.
var goneStates = map[string]sink.EndState{"success": sink.EndGone, "failed": sink.EndFailed, "unknown": sink.EndUnknown}

// GoneState is how a job ended that is gone.
func GoneState(gone, otherwise string) sink.EndState { return goneStates[cmp.Or(gone, otherwise)] }

// Quote is an identifier with its quotes.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Literal is a text as a literal. The names that come here hold no backslash.
func Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Qualified is a table, a type or a function with its schema, which may be empty.
func Qualified(schema, name string) string {
	if schema == "" {
		return Quote(name)
	}
	return Quote(schema) + "." + Quote(name)
}

// CheckPriority says why a job's priority cannot be mapped.
func CheckPriority(j jobqueue.Job) string {
	if j.Priority < jobqueue.PriorityLow || j.Priority > jobqueue.PriorityHigh {
		return fmt.Sprintf("priority is %d, and not between %d and %d", j.Priority, jobqueue.PriorityLow, jobqueue.PriorityHigh)
	}
	return ""
}

// IsNumber reports whether a reference is a number of 64 bits.
func IsNumber(ref string) bool {
	_, err := strconv.ParseInt(ref, 10, 64)
	return err == nil
}
