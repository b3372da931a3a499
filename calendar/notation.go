package calendar

import (
	"fmt"
	"strings"
	"time"
)

// text is a timer with its words. A timer is cut once, by cut; the words tell its notation, and
// each parser takes them with their places.
type text struct {
	timer  string
	words  []word
	prefix int // the length of what introduces a zone at the front; 0: no zone is there
}

// word is a part of a timer between spaces.
type word struct {
	text string
	at   int // its first byte in the timer
}

func cut(timer string) text {
	words := make([]word, 0, 8)
	start := -1
	for i := 0; i <= len(timer); i++ {
		space := i == len(timer) || isSpace(timer[i])
		switch {
		case space && start >= 0:
			words = append(words, word{timer[start:i], start})
			start = -1
		case !space && start < 0:
			start = i
		}
	}
	t := text{timer: timer, words: words}
	for _, prefix := range zonePrefixes {
		if len(words) > 0 && strings.HasPrefix(words[0].text, prefix) {
			t.prefix = len(prefix)
		}
	}
	return t
}

// zonePrefixes are what may stand in front of a cron expression; the first one is the normal form.
var zonePrefixes = [...]string{"CRON_TZ=", "TZ="}

// parseNotation reads a timer in its notation.
func parseNotation(t text, anchor time.Time) (Schedule, error) {
	switch {
	case t.timer == Never:
		return untimed{}, nil
	case len(t.words) > 0 && strings.EqualFold(t.words[0].text, "every"):
		return parseInterval(t, anchor)
	case t.isCron():
		return parseCron(t)
	}
	return parseEvent(t)
}

// isCron tells cron expressions by what calendar events never have: a zone in front, five words or
// more, or a name that starts with @ and is not a number.
func (t text) isCron() bool {
	if t.prefix > 0 || len(t.words) >= 5 {
		return true
	}
	return len(t.words) > 0 && t.words[0].text[0] == '@' && strings.Trim(t.words[0].text[1:], "0123456789.") != ""
}

// failAt returns the error for what stands at an offset of the timer.
func (t text) failAt(offset int, format string, args ...any) error {
	return &ParseError{t.timer, min(offset, len(t.timer)), fmt.Sprintf(format, args...)}
}

func isSpace(c byte) bool  { return c == ' ' || '\t' <= c && c <= '\r' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
