package periodic

import (
	"fmt"
	"strconv"
	"strings"
)

// versioned is a name of an origin with its version, as the column origin has it. 0: there is none.
func versioned(name string, version int64) string {
	if version == 0 {
		return name
	}
	return name + "@" + strconv.FormatInt(version, 10)
}

// unversioned are the name and the version in a column origin.
func unversioned(origin string) (name string, version int64) {
	name, digits, _ := strings.Cut(origin, "@")
	version, _ = strconv.ParseInt(digits, 10, 64) // what somebody has written by hand is no version
	return name, max(version, 0)
}

// OriginError is returned by [Tasks.Apply] for a task that another program or file declares.
type OriginError struct{ Has, Wants string }

// Error names both, and the remedy.
func (e *OriginError) Error() string {
	if e.Wants == "" {
		return fmt.Sprintf("%q declares it (column origin); change it there, or name that origin", e.Has)
	}
	return fmt.Sprintf("%q declares it (column origin), and %q may not; use another id, or set the column origin to %[2]q first", e.Has, e.Wants)
}

// OlderError is returned by [Tasks.Apply] if a newer version of the origin has declared tasks. Nothing was changed.
type OlderError struct {
	Origin         string
	Version, Newer int64
}

// Error names both versions, and how to go back.
func (e *OlderError) Error() string {
	return fmt.Sprintf("nothing was changed: version %d of %q has declared its tasks, and this is version %d; to go back on purpose, run: UPDATE periodic_task SET origin = '%s' WHERE origin = '%s'",
		e.Newer, e.Origin, e.Version, strings.ReplaceAll(e.Origin, "'", "''"), strings.ReplaceAll(versioned(e.Origin, e.Newer), "'", "''"))
}
