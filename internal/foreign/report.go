package foreign

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Report says how a queue was found.
type Report struct {
	Kind     string    // as in the configuration file, such as river
	Found    string    // the version of its tables, such as "schema level 8"; empty: none found
	Problems []Problem // what keeps it from being used, and warnings
}

// Problem is something wrong with a queue.
type Problem struct {
	Text    string // what is wrong
	Remedy  string // what to do about it
	Warning bool   // the queue can be used nevertheless
}

// String is the problem with its remedy.
func (p Problem) String() string {
	if p.Remedy == "" {
		return p.Text
	}
	return p.Text + ": " + p.Remedy
}

// ErrUnusable is wrapped by errors about a queue that takes no jobs: its tables are
// missing or too old, or this role lacks a right. No row is to blame.
var ErrUnusable = errors.New("the queue cannot be used")

// Inspection is a report that is being written.
type Inspection struct{ Report }

// Problem adds a problem that keeps the queue from being used.
func (r *Inspection) Problem(remedy, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{Text: fmt.Sprintf(format, args...), Remedy: remedy})
}

// Warn adds a problem that does not.
func (r *Inspection) Warn(remedy, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{Text: fmt.Sprintf(format, args...), Remedy: remedy, Warning: true})
}

// Unusable reports whether there is a problem that keeps the queue from being used.
func (r *Inspection) Unusable() bool {
	return slices.ContainsFunc(r.Problems, func(p Problem) bool { return !p.Warning })
}

// err is an error with all problems that keep the queue from being used, nil if
// there are none.
func (r *Inspection) err() error {
	var list []string
	for _, p := range r.Problems {
		if !p.Warning {
			list = append(list, p.String())
		}
	}
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrUnusable, strings.Join(list, "; "))
}
