// Package text makes texts ones that both databases can hold, and writes durations for people.
package text

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Valid reports whether both databases can hold the text: UTF-8 without NUL.
func Valid(text string) bool {
	return utf8.ValidString(text) && !strings.Contains(text, "\x00")
}

// Clean makes a text one that both databases can hold, of at most limit bytes. It
// replaces bytes that are not UTF-8, and NUL, and cuts between characters.
func Clean(text string, limit int) string {
	if !Valid(text) {
		text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	}
	if len(text) <= limit {
		return text
	}
	const ellipsis = "…"
	cut := max(0, limit-len(ellipsis))
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + ellipsis
}

// FirstLine is the first line of a text, shortened to 80 characters.
func FirstLine(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	const most = 80
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	if rest != "" {
		return line + " ..."
	}
	return line
}

// JSON is a value in JSON, or {} if it has none, as with a time beyond the year 9999.
func JSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(b)
}

// uuid is an id in a sentence. Its end is enough to find what it is of.
var uuid = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}([0-9a-f]{8})\b`)

// Tails shortens the ids in a sentence to their ends.
func Tails(sentence string) string { return uuid.ReplaceAllString(sentence, "…$1") }

// bare is a word that means the same to all shells without quotes.
var bare = regexp.MustCompile(`^[\pL\pN_./:@%+,-]+$`)

// Word is a text as one word of a command that people copy into a shell: in quotes if a shell would take it for something else.
func Word(text string) string {
	if bare.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
