package jobqueue

import (
	"strings"
	"unicode/utf8"
)

// validText reports whether both databases can hold the text.
func validText(text string) bool {
	return utf8.ValidString(text) && !strings.Contains(text, "\x00")
}

// cleanText replaces what the databases cannot hold: bytes that are not UTF-8,
// and NUL.
func cleanText(text string) string {
	if validText(text) {
		return text
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// shorten cuts a text to at most limit bytes, between characters.
func shorten(text string, limit int) string {
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
