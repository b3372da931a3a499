package timer

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
)

// setting is a line KEY=VALUE of a unit file.
type setting struct {
	section, key, value string
	file                string
	line                int
}

// unit is a unit: the settings of its file and of its drop-ins, in the order in which
// systemd reads them.
type unit struct {
	name     string // with its suffix
	files    []string
	settings []setting
	broken   []setting // lines that are no settings; value says why
}

// parseUnit reads a unit file, as systemd.syntax(7) describes it.
func (u *unit) parse(file, text string) {
	u.files = append(u.files, file)
	section, begun := "", 0
	var whole strings.Builder
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		trimmed := strings.TrimSpace(line)
		if trimmed != "" && strings.ContainsAny(trimmed[:1], "#;") || trimmed == "" && whole.Len() == 0 {
			continue // comments may stand between the parts of a line
		}
		if whole.Len() == 0 {
			begun = n
		}
		if part, more := strings.CutSuffix(strings.TrimRight(line, " \t\r"), "\\"); more {
			whole.WriteString(part + " ")
			continue
		}
		whole.WriteString(line)
		u.line(&section, file, begun, strings.TrimSpace(whole.String()))
		whole.Reset()
	}
	if whole.Len() > 0 {
		u.line(&section, file, begun, strings.TrimSpace(whole.String()))
	}
}

func (u *unit) line(section *string, file string, n int, line string) {
	s := setting{section: *section, file: file, line: n}
	fail := func(why string) {
		s.key, s.value = schedules.Shorten(line), why
		u.broken = append(u.broken, s)
	}
	if err := schedules.CheckText(line); err != nil {
		fail(err.Error())
		return
	}
	if strings.HasPrefix(line, "[") {
		if !strings.HasSuffix(line, "]") {
			fail("this is no header of a section")
			return
		}
		*section = line[1 : len(line)-1]
		return
	}
	key, value, found := strings.Cut(line, "=")
	if !found {
		fail("this is no setting; use NAME=VALUE")
		return
	}
	if *section == "" {
		fail("it stands in front of the first section")
		return
	}
	s.key, s.value = strings.TrimSpace(key), strings.TrimSpace(value)
	u.settings = append(u.settings, s)
}

// all are the settings of a section.
func (u *unit) all(section string) (list []setting) {
	for _, s := range u.settings {
		if s.section == section {
			list = append(list, s)
		}
	}
	return list
}

// list are the settings of a service of a name since the last empty one, which forgets those
// before it.
func (u *unit) list(key string) (list []setting) {
	for _, s := range u.all("Service") {
		switch {
		case s.key != key:
		case s.value == "":
			list = nil
		default:
			list = append(list, s)
		}
	}
	return list
}

// last is the value that counts of a setting that has one, "" if there is none.
func (u *unit) last(section, key string) (value string) {
	for _, s := range u.all(section) {
		if s.key == key {
			value = s.value
		}
	}
	return value
}

// isOn reports whether systemd takes a value for yes.
func isOn(value string) bool {
	switch strings.ToLower(value) {
	case "1", "yes", "y", "true", "t", "on":
		return true
	}
	return false
}

// templateOf is foo@.timer for foo@bar.timer, and empty for a name without an instance.
func templateOf(name string) string {
	suffix := filepath.Ext(name)
	before, instance, _ := strings.Cut(strings.TrimSuffix(name, suffix), "@")
	if instance == "" {
		return ""
	}
	return before + "@" + suffix
}

// isTemplate reports whether a name lacks its instance.
func isTemplate(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, filepath.Ext(name)), "@")
}

func (s setting) String() string { return fmt.Sprintf("%s=%s", s.key, s.value) }
