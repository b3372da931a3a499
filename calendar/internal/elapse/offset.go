package elapse

import (
	"fmt"
	"strings"
	"time"
)

// maxOffset is the greatest offset from UTC, that of ISO 8601 as Java reads it.
const maxOffset = 18 * time.Hour

// IsOffset reports whether a word can only be meant as an offset from UTC: Z, or one
// that begins with a sign.
func IsOffset(word string) bool {
	return word == "Z" || word != "" && (word[0] == '+' || word[0] == '-')
}

// ZoneOffset returns the zone of a fixed offset from UTC: Z, +h, +hh, +hhmm, +hh:mm,
// +hhmmss or +hh:mm:ss, and the same with a minus, up to 18 hours. Its name is +hh:mm
// or +hh:mm:ss; without an offset it is UTC.
func ZoneOffset(word string) (*Zone, error) {
	if word == "Z" {
		return UTC, nil
	}
	parts, ok := offsetParts(word)
	if !ok {
		return nil, fmt.Errorf("%q is not an offset from UTC; write it like +02:00", word)
	}
	size := time.Duration(parts[0])*time.Hour + time.Duration(parts[1])*time.Minute + time.Duration(parts[2])*time.Second
	switch {
	case parts[1] > 59 || parts[2] > 59:
		return nil, fmt.Errorf("the offset %q has more than 59 minutes or seconds", word)
	case size > maxOffset:
		return nil, fmt.Errorf("the offset %q is beyond 18 hours", word)
	case size == 0:
		return UTC, nil
	}
	name := fmt.Sprintf("%c%02d:%02d", word[0], parts[0], parts[1])
	if parts[2] > 0 {
		name += fmt.Sprintf(":%02d", parts[2])
	}
	if word[0] == '-' {
		size = -size
	}
	location := time.FixedZone(name, int(size/time.Second))
	return &Zone{name, location, []period{{firstInstant, offsetAt(location, 0)}}}, nil
}

// offsetParts takes hours, minutes and seconds out of an offset.
func offsetParts(word string) (parts [3]int, ok bool) {
	if word == "" || word[0] != '+' && word[0] != '-' {
		return parts, false
	}
	digits := word[1:]
	switch len(digits) {
	case 1:
		digits = "0" + digits
	case 5, 8: // hh:mm, hh:mm:ss
		for i := 2; i < len(digits); i += 3 {
			if digits[i] != ':' {
				return parts, false
			}
		}
		digits = strings.ReplaceAll(digits, ":", "")
	}
	if len(digits)%2 != 0 || len(digits) > 6 || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return parts, false
	}
	for i := 0; i < len(digits); i += 2 {
		parts[i/2] = int(digits[i]-'0')*10 + int(digits[i+1]-'0')
	}
	return parts, true
}
