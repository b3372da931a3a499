package calendar

import (
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/calendar/internal/elapse"
	words "github.com/nextrun/nextrun/internal/text"
)

// timeOfDay says how to write one, for those who wrote words.
const timeOfDay = `a time of day is a calendar event, such as "*-*-* 02:00"`

// didYouMean is the end of a message, or nothing when there is no suggestion.
func didYouMean(suggestion string) string {
	if suggestion == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", suggestion)
}

// failMeant is failAt with what was probably meant, or "".
func (t text) failMeant(offset int, meant, format string, args ...any) error {
	return t.failAt(offset, "%s%s", fmt.Sprintf(format, args...), didYouMean(meant))
}

// failNear is failAt with the candidate that a word was probably meant to be.
func (t text) failNear(offset int, word string, candidates []string, format string, args ...any) error {
	return t.failMeant(offset, words.Nearest(word, candidates...), format, args...)
}

// otherNotation improves the error of a calendar event that was meant to be something else.
func otherNotation(t text, err error) error {
	switch n := len(t.words); {
	case n == 4 && cronLike(t.words):
		return t.failAt(len(t.timer), "a cron expression has 5 to 7 fields, this one has 4")
	case n > 0 && n < 4 && isDigit(t.words[0].text[0]):
		every := "every " + strings.TrimSpace(t.timer)
		if _, not := Parse(every); not == nil {
			return t.failMeant(t.words[0].at, every, "an interval starts with the word every")
		}
	}
	return err
}

// cronLike reports whether every word could be a field of a cron expression, and of nothing else.
func cronLike(words []word) bool {
	for _, w := range words {
		if strings.Trim(w.text, "0123456789*,/-?#LW") != "" || strings.Contains(w.text, "*-") {
			return false
		}
	}
	return true
}

// commonZones are zones for abbreviations that people write, though they name an offset and not a
// zone.
var commonZones = map[string]string{
	"BST": "Europe/London", "CEST": "Europe/Berlin", "EEST": "Europe/Athens", "MESZ": "Europe/Berlin",
	"MEZ": "Europe/Berlin", "WEST": "Europe/Lisbon", "EDT": "America/New_York", "CST": "America/Chicago",
	"CDT": "America/Chicago", "MDT": "America/Denver", "PST": "America/Los_Angeles", "PDT": "America/Los_Angeles",
	"JST": "Asia/Tokyo", "IST": "Asia/Kolkata", "AEST": "Australia/Sydney", "AEDT": "Australia/Sydney", "Z": "UTC",
}

// likelyZones are candidates for a name with a typing error: those of the largest cities.
var likelyZones = []string{
	"Africa/Cairo", "Africa/Johannesburg", "Africa/Lagos", "Africa/Nairobi", "America/Bogota",
	"America/Buenos_Aires", "America/Chicago", "America/Denver", "America/Lima",
	"America/Los_Angeles", "America/Mexico_City", "America/New_York", "America/Santiago",
	"America/Sao_Paulo", "America/Toronto", "America/Vancouver", "Asia/Bangkok", "Asia/Dhaka",
	"Asia/Dubai", "Asia/Hong_Kong", "Asia/Istanbul", "Asia/Jakarta", "Asia/Jerusalem",
	"Asia/Karachi", "Asia/Kolkata", "Asia/Manila", "Asia/Riyadh", "Asia/Seoul", "Asia/Shanghai",
	"Asia/Singapore", "Asia/Taipei", "Asia/Tehran", "Asia/Tokyo", "Australia/Melbourne",
	"Australia/Perth", "Australia/Sydney", "Europe/Amsterdam", "Europe/Athens", "Europe/Berlin",
	"Europe/Brussels", "Europe/Bucharest", "Europe/Copenhagen", "Europe/Dublin",
	"Europe/Helsinki", "Europe/Istanbul", "Europe/Kyiv", "Europe/Lisbon", "Europe/London",
	"Europe/Madrid", "Europe/Moscow", "Europe/Oslo", "Europe/Paris", "Europe/Prague",
	"Europe/Rome", "Europe/Stockholm", "Europe/Vienna", "Europe/Warsaw", "Europe/Zurich",
	"Pacific/Auckland", "Pacific/Honolulu",
}

// zoneAt returns the zone of a name that stands at an offset of the timer.
func (t text) zoneAt(offset int, name string) (*elapse.Zone, error) {
	z, err := elapse.ZoneNamed(name)
	if err != nil {
		return nil, t.failAt(offset, "%v%s", err, suggestZone(name))
	}
	return z, nil
}

// suggestZone is the end of a message about an unknown zone: the zone that an abbreviation, or a name that is much
// like it, stands for.
func suggestZone(name string) string {
	zone, ok := commonZones[strings.ToUpper(name)]
	if !ok {
		zone = words.Nearest(name, likelyZones...)
	}
	if zone == "" {
		return "; use a name of the zone database, such as Europe/Berlin"
	}
	return didYouMean(zone)
}
