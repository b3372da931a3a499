package calendar

import (
	"strings"

	"github.com/adhocore/gronx"
)

// cron is a cron expression in normal form, and what it compiles to.
type cron struct {
	ticker
	fields []string // upper case, names replaced by numbers
	zone   string   // "" when none was given
}

// String implements Schedule.
func (c *cron) String() string {
	text := strings.Join(c.fields, " ")
	if c.zone != "" {
		return "CRON_TZ=" + c.zone + " " + text
	}
	return text
}

// cronNames are the names for common expressions that gronx knows, but for those that end in minutes all letters.
var cronNames = map[string]string{
	"@yearly":      "0 0 1 1 *",
	"@annually":    "0 0 1 1 *",
	"@monthly":     "0 0 1 * *",
	"@weekly":      "0 0 * * 0",
	"@daily":       "0 0 * * *",
	"@hourly":      "0 * * * *",
	"@always":      "* * * * *",
	"@5minutes":    "*/5 * * * *",
	"@10minutes":   "*/10 * * * *",
	"@15minutes":   "*/15 * * * *",
	"@30minutes":   "0,30 * * * *",
	"@everysecond": "* * * * * *",
}

// parseCron reads [CRON_TZ=zone] expression. What it accepts is validated by gronx; the elapses come from sets of our
// own, because gronx reads the expression anew in every call.
func parseCron(timer string) (Schedule, error) {
	c := &cron{}
	c.ticker.zone = utc
	words := splitWords(timer)
	if len(words) > 0 {
		if name, ok := zonePrefix(words[0].text); ok {
			z, err := zoneNamed(name)
			if err != nil {
				return nil, &ParseError{timer, words[0].at + strings.IndexByte(words[0].text, '=') + 1, err.Error()}
			}
			c.ticker.zone, c.zone = z, name
			if z == utc {
				c.zone = "UTC"
			}
			words = words[1:]
		}
	}
	if len(words) == 1 && words[0].text[0] == '@' {
		text, ok := cronNames[strings.ToLower(words[0].text)]
		if !ok {
			return nil, &ParseError{timer, words[0].at, "unknown name " + words[0].text}
		}
		words = splitWords(text)
	}
	p := cronParser{timer: timer}
	if err := p.expression(words); err != nil {
		return nil, err
	}
	c.fields = p.normal
	if !gronx.IsValid(strings.Join(c.fields, " ")) {
		return nil, &ParseError{timer, 0, "not a cron expression that gronx accepts"}
	}
	c.table = p.compile()
	return c, nil
}

// zonePrefix takes apart CRON_TZ=zone and TZ=zone.
func zonePrefix(text string) (zone string, ok bool) {
	for _, prefix := range [...]string{"CRON_TZ=", "TZ="} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			return rest, true
		}
	}
	return "", false
}

// word is a part of a timer between spaces, with its place.
type word struct {
	text string
	at   int
}

func splitWords(timer string) []word {
	words := make([]word, 0, 8)
	start := -1
	for i := 0; i <= len(timer); i++ {
		space := i == len(timer) || strings.IndexByte(" \t\n\v\f\r", timer[i]) >= 0
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
