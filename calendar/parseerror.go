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

// Error returns the message with the timer, and with what stands at the place unless that is the beginning.
func (e *ParseError) Error() string {
	place, rest := "", e.Timer[min(max(e.Offset, 0), len(e.Timer)):]
	switch {
	case rest == e.Timer:
	case strings.TrimSpace(rest) == "":
		place = ", at its end"
	default:
		place = fmt.Sprintf(", at %q", shorten(rest, 32))
	}
	return fmt.Sprintf("timer %q%s: %s", shorten(e.Timer, MaxLength), place, e.Msg)
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
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:min(most, 64)] + "..."
}
