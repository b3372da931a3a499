package calendar

import (
	"fmt"
	"strings"
	"unicode"
)

// ParseError says what is wrong with a timer, and where. Parse and ParseAt return no other error.
type ParseError struct {
	Timer  string `json:"timer"`   // as it was given
	Offset int    `json:"offset"`  // byte at which the trouble starts, 0 to len(Timer)
	Msg    string `json:"message"` // what was found, what was expected, and a suggestion
}

// Error returns the message with the timer and the place.
func (e *ParseError) Error() string {
	return fmt.Sprintf("timer %q, at offset %d: %s", shorten(e.Timer), e.Offset, e.Msg)
}

// Caret returns two lines for a terminal with a font of one width: the timer, and a caret under the
// place. What would disturb the terminal is replaced by question marks.
func (e *ParseError) Caret() string {
	offset := min(max(e.Offset, 0), len(e.Timer))
	return printable(e.Timer) + "\n" + strings.Repeat(" ", len([]rune(printable(e.Timer[:offset])))) + "^"
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// shorten keeps an overlong timer from filling the log.
func shorten(s string) string {
	if len(s) <= MaxLength {
		return s
	}
	return s[:64] + "..."
}
