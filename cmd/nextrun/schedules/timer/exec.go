package timer

import (
	"fmt"
	"strings"
)

// splitCommand parts a command line of ExecStart= into words, as systemd.service(5)
// describes it: quotes, and a few escapes of C. The prefixes of the program are
// returned apart.
func splitCommand(line string) (prefixes string, words []string, err error) {
	n := len(line) - len(strings.TrimLeft(line, "@-:+!"))
	prefixes, line = line[:n], line[n:]
	var word strings.Builder
	begun, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\':
			text, used, err := unescape(line[i:])
			if err != nil {
				return "", nil, err
			}
			word.WriteString(text)
			i += used - 1
			begun = true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, begun = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if quote != 0 {
		return "", nil, fmt.Errorf("a quote has no end")
	}
	if begun {
		words = append(words, word.String())
	}
	return prefixes, words, nil
}

var escapes = map[byte]string{
	'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v",
	'\\': `\`, '"': `"`, '\'': "'", 's': " ", ';': ";", ' ': " ",
}

func unescape(text string) (value string, used int, err error) {
	if len(text) < 2 {
		return "", 0, fmt.Errorf("the line ends with \\")
	}
	if text[1] == 'x' {
		var n int
		if len(text) < 4 {
			return "", 0, fmt.Errorf("\\x needs two digits")
		}
		if _, err := fmt.Sscanf(text[2:4], "%02x", &n); err != nil || n == 0 {
			return "", 0, fmt.Errorf("%q is no character", text[:4])
		}
		return string([]byte{byte(n)}), 4, nil
	}
	if value, ok := escapes[text[1]]; ok {
		return value, 2, nil
	}
	return text[:2], 2, nil // systemd keeps what it does not know
}

// specifiers expands those that the name of the unit tells. It reports the first
// other one.
func specifiers(text, unitName string) (expanded, unknown string) {
	stem, _, _ := strings.Cut(unitName, ".")
	if i := strings.LastIndex(unitName, "."); i >= 0 {
		stem = unitName[:i]
	}
	prefix, instance, _ := strings.Cut(stem, "@")
	final := prefix[strings.LastIndex(prefix, "-")+1:]
	values := map[byte]string{
		'%': "%", 'n': unitName, 'N': stem, 'p': prefix, 'P': unescapeName(prefix),
		'i': instance, 'I': unescapeName(instance), 'j': final,
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '%' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		value, ok := values[text[i]]
		if !ok {
			return "", text[i-1 : i+1]
		}
		b.WriteString(value)
	}
	return b.String(), ""
}

// unescapeName turns what systemd-escape(1) makes of a name back: - is /, \xNN a byte.
func unescapeName(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		switch {
		case name[i] == '-':
			b.WriteByte('/')
		case strings.HasPrefix(name[i:], `\x`):
			if text, used, err := unescape(name[i:]); err == nil {
				b.WriteString(text)
				i += used - 1
				continue
			}
			b.WriteByte(name[i])
		default:
			b.WriteByte(name[i])
		}
	}
	return b.String()
}

// variables replaces $NAME as a word of its own, and ${NAME} in a word, by the value in
// env. It returns the first variable that env lacks. Like systemd, it splits the value of
// a word that is $NAME.
func variables(words, env []string) (expanded []string, unknown string) {
	values := map[string]string{}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	for _, word := range words {
		if name, ok := strings.CutPrefix(word, "$"); ok && isVariable(name) {
			value, has := values[name]
			if !has {
				return nil, word
			}
			expanded = append(expanded, strings.Fields(value)...)
			continue
		}
		text, unknown := inWord(word, values)
		if unknown != "" {
			return nil, unknown
		}
		expanded = append(expanded, text)
	}
	return expanded, ""
}

func inWord(word string, values map[string]string) (text, unknown string) {
	var b strings.Builder
	for i := 0; i < len(word); i++ {
		if word[i] != '$' {
			b.WriteByte(word[i])
			continue
		}
		if strings.HasPrefix(word[i:], "$$") {
			b.WriteByte('$')
			i++
			continue
		}
		name, _, closed := strings.Cut(strings.TrimPrefix(word[i:], "${"), "}")
		if !strings.HasPrefix(word[i:], "${") || !closed || !isVariable(name) {
			b.WriteByte('$')
			continue
		}
		value, has := values[name]
		if !has {
			return "", "${" + name + "}"
		}
		b.WriteString(value)
		i += len(name) + 2
	}
	return b.String(), ""
}

func isVariable(name string) bool {
	for i, c := range name {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
