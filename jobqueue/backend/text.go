package backend

import (
	"slices"

	"github.com/nextrun/nextrun/internal/text"
)

// MaxMessage is the greatest length of a line of the job log, and of a result,
// in bytes.
const MaxMessage = 64 << 10

// CleanMessage makes a text one that both databases can hold, of at most
// [MaxMessage] bytes.
func CleanMessage(message string) string { return text.Clean(message, MaxMessage) }

// NewLine makes a line that both databases can hold; a level that is not one of
// [Levels] counts as info.
func NewLine(jid string, level Level, message string) Line {
	if !slices.Contains(Levels(), level) {
		level = Info
	}
	return Line{ID: NewID(), JID: jid, Level: level, Message: CleanMessage(message)}
}
