package calendar

// word is a part of a timer between spaces, with its place.
type word struct {
	text string
	at   int
}

func splitWords(timer string) []word {
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
	return words
}

func isSpace(c byte) bool  { return c == ' ' || '\t' <= c && c <= '\r' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
