package elapse

import (
	"fmt"
	"time"
)

// maxOffset is the greatest offset from UTC, that of ISO 8601 as Java reads it.
const maxOffset = 18 * time.Hour

// IsOffset reports whether a word can only be meant as an offset from UTC: Z, or one
// that begins with a sign.
func IsOffset(word string) bool {
	return word == "Z" || word != "" && (word[0] == '+' || word[0] == '-')
}

// offsetLayouts are the forms of an offset; the first two are those of names of zones.
var offsetLayouts = [...]string{"-07:00", "-07:00:00", "-07", "-0700", "-070000"}

// ZoneOffset returns the zone of a fixed offset from UTC: Z, +h, +hh, +hhmm, +hh:mm,
// +hhmmss or +hh:mm:ss, and the same with a minus, up to 18 hours. Its name is +hh:mm
// or +hh:mm:ss; without an offset it is UTC.
func ZoneOffset(word string) (*Zone, error) {
	if word == "Z" {
		return UTC, nil
	}
	text := word
	if len(word) == 2 {
		text = word[:1] + "0" + word[1:]
	}
	for _, layout := range offsetLayouts {
		t, err := time.Parse(layout, text)
		_, seconds := t.Zone()
		size := time.Duration(seconds) * time.Second
		if err != nil || size.Abs() > maxOffset || size != 0 && t.Format(layout) != text { // Parse takes 60 minutes
			continue
		}
		name := t.Format(offsetLayouts[0])
		switch {
		case seconds == 0:
			return UTC, nil
		case seconds%60 != 0:
			name = t.Format(offsetLayouts[1])
		}
		location := time.FixedZone(name, seconds)
		return &Zone{Name: name, Location: location, periods: []period{{firstInstant, offsetAt(location, 0)}}}, nil
	}
	return nil, fmt.Errorf("%q is not an offset from UTC of up to 18 hours; write it like +02:00", word)
}
