package schedules

import (
	"path/filepath"
	"strings"

	"github.com/nextrun/nextrun/periodic"
)

// StandardInput stands for a file's name.
const StandardInput = "standard input"

// Origin is where an entry comes from: a host and a file there.
type Origin struct{ Host, Place string }

// NewOrigin is the origin of what is in a file; - is standard input.
func NewOrigin(host, path string) Origin {
	if path == "-" {
		return Origin{host, StandardInput}
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return Origin{host, path}
}

// maxSubject is the length of the column.
const maxSubject = 254

// Subject is the origin as the column subject has it.
func (o Origin) Subject() string {
	text := []rune(strings.ToValidUTF8(o.Host+":"+o.Place, "?"))
	return string(text[max(0, len(text)-maxSubject):])
}

// Surely reports whether a row comes from this file and no other.
func (o Origin) Surely(row *periodic.Task) bool {
	return row.Subject == o.Subject() && o.Place != StandardInput
}

// isFrom reports whether the row of a task's id is that task, imported earlier.
// Standard input may be any file, and another host (or the same in a new container)
// has other files: there the row must have the summary or the timer in common with
// the task, too.
func (e *Entry) isFrom(kind string, row *periodic.Task) bool {
	_, place, _ := strings.Cut(e.Origin.Subject(), ":")
	_, rowPlace, _ := strings.Cut(row.Subject, ":")
	if row.Submitter != kind || place != rowPlace {
		return false
	}
	return e.Origin.Surely(row) || row.Summary == e.Task.Summary || row.Timer == e.Task.Timer
}

// Whence says where a row comes from.
func Whence(row *periodic.Task, kinds []string) string {
	for _, kind := range kinds {
		if row.Submitter == kind && row.Subject != "" {
			return "comes from the " + kind + " " + row.Subject
		}
	}
	return "was not imported"
}
