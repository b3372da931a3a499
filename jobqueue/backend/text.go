package backend

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxMessage is the greatest length of a line of the job log, and of a result,
// in bytes.
const MaxMessage = 64 << 10

// CleanMessage makes a text one that both databases can hold, of at most
// [MaxMessage] bytes.
func CleanMessage(message string) string { return shorten(cleanText(message), MaxMessage) }

// NewLine makes a line that both databases can hold; a level that is not one of
// [Levels] counts as info.
func NewLine(jid string, level Level, message string) Line {
	if !slices.Contains(Levels(), level) {
		level = Info
	}
	return Line{ID: NewID(), JID: jid, Level: level, Message: CleanMessage(message)}
}

// ValidText reports whether both databases can hold the text.
func ValidText(text string) bool {
	return utf8.ValidString(text) && !strings.Contains(text, "\x00")
}

// cleanText replaces what the databases cannot hold: bytes that are not UTF-8,
// and NUL.
func cleanText(text string) string {
	if ValidText(text) {
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
