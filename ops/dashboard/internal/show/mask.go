package show

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Mask are parts of names whose values are not shown.
type Mask []string

// MostArgs is how much of args is shown.
const MostArgs = 4000

// Args are args as they are shown: masked by key and shortened. What is no JSON may hold
// anything, so it is shown only where nothing in it has a name to be masked.
func (m Mask) Args(text string) string {
	if len(text) > 1<<16 {
		return fmt.Sprintf("%d bytes", len(text))
	}
	var value any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil || decoder.More() {
		if m.hides(text) {
			return fmt.Sprintf("not JSON, and not shown, because it seems to hold a secret (%d bytes)", len(text))
		}
		return Shorten(Printable(text), MostArgs)
	}
	shown, err := json.MarshalIndent(m.value(value), "", "  ")
	if err != nil {
		return fmt.Sprintf("%d bytes", len(text))
	}
	return Shorten(Printable(string(shown)), MostArgs)
}

// hides reports whether the value of a name is not shown.
func (m Mask) hides(name string) bool {
	name = strings.ToLower(name)
	for _, part := range m {
		if part != "" && strings.Contains(name, strings.ToLower(part)) {
			return true
		}
	}
	return false
}

// value replaces the values of masked names, at any depth: of keys, of what texts such as
// --password=x name, and of options whose value is the next text of a list.
func (m Mask) value(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			if m.hides(name) {
				v[name] = "***"
			} else {
				v[name] = m.value(v[name])
			}
		}
	case []any:
		option := false // the one before is an option with a name that is masked
		for i := range v {
			text, _ := v[i].(string)
			if option {
				v[i] = "***"
			} else {
				v[i] = m.value(v[i])
			}
			option = !option && strings.HasPrefix(text, "-") && !strings.ContainsAny(text, "=: ") && m.hides(text)
		}
	case string:
		return m.Line(v)
	}
	return value
}

// Line masks what looks like NAME=VALUE or NAME: VALUE of a masked name in a line.
func (m Mask) Line(line string) string {
	for i, c := range line {
		if (c == '=' || c == ':') && m.hides(lastWord(line[:i])) {
			return line[:i+1] + " ***"
		}
	}
	return line
}

func lastWord(text string) string {
	fields := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\"'{,[(&?", r) })
	if len(fields) == 0 {
		return ""
	}
	return fields[len(fields)-1]
}
