// Package page writes what was measured: as JSON, and into pages of the documentation.
package page

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// WriteJSON writes a value to a file.
func WriteJSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644) //nolint:gosec // figures are for everybody
}

// Replace puts a text, which ends with a line break, between the two marks of that name in a
// page: <!-- NAME: begin --> and <!-- NAME: end -->.
func Replace(path, name, text string) error {
	begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->"
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(old), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no lines %sand %s", path, begin, end)
	}
	return os.WriteFile(path, []byte(head+begin+"\n"+text+end+tail), 0o644) //nolint:gosec // a page of the documentation, which the caller names
}

// Load is the load averages of the system, of 1, 5 and 15 minutes; empty: not known.
func Load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(text))[:3], ", ")
}
