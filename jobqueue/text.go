package jobqueue

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
// allLevels counts as info.
func NewLine(jid string, level Level, message string) Line {
	if !slices.Contains(allLevels(), level) {
		level = Info
	}
	return Line{ID: NewID(), JID: jid, Level: level, Message: CleanMessage(message)}
}

// Bounds of the log of one attempt.
const (
	// MaxLogLines is how many lines are kept.
	MaxLogLines = 100_000
	// MaxLogBytes is how many bytes of the lines are kept.
	MaxLogBytes = 64 << 20
)
