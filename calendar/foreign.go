package calendar

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"github.com/nextrun/nextrun/calendar/internal/elapse"
)

// What other programs know and this package does not: its errors say what to write instead.

// hashed is an item of a cron expression as Jenkins has it: H, H/15 or H(0-29).
var hashed = regexp.MustCompile(`^[Hh](?:\([-\d]+\))?(?:/\d+)?(?:[,\s]|$)`)

// otherCron improves the error of a cron expression that has what other programs know.
func (p *cronParser) otherCron(words []word, err error) error {
	var wrong *ParseError
	if errors.As(err, &wrong) && hashed.MatchString(p.timer[wrong.Offset:]) && p.reading < cronYear {
		return p.failAt(wrong.Offset, "H is no %s; write a number, and give the task a jitter, such as --jitter 3600", cronFields[p.reading].name)
	}
	return cmp.Or(p.behind(words), err)
}

// behind is the error for what does not belong at the end: a zone, where calendar events have
// theirs, or a command, as in a crontab.
func (p *cronParser) behind(words []word) error {
	if len(words) < 6 {
		return nil
	}
	if w := words[5]; strings.ContainsAny(w.text[:1], "/.~") {
		whole := strings.TrimSpace(p.timer[:w.at])
		return p.failMeant(w.at, ifTimer(whole), "a timer has no command; a handler runs it")
	}
	last := words[len(words)-1]
	zone := last.text
	if z, _ := elapse.ZoneNamed(zone); z == nil {
		if zone = zoneMeant(zone); zone == "" || !strings.Contains(last.text, "/") && commonZones[last.text] == "" {
			return nil
		}
	}
	meant := zonePrefixes[0] + zone + " " + strings.TrimSpace(p.timer[:last.at])
	return p.failMeant(last.at, ifTimer(meant), "the zone of a cron expression stands in front")
}

// notRule is the error for an RRULE of iCalendar (RFC 5545); nil: the timer is none.
func notRule(timer string) error {
	if !strings.Contains(strings.ToUpper(timer), "FREQ=") {
		return nil
	}
	return text{timer: timer}.failAt(0, `an RRULE is not a timer; write a calendar event, such as "Mon *-*-1..7 09:00" for the first Monday of each month, `+
		`or an interval, such as "every 2 weeks from 2026-01-31T09:00:00Z"; the columns starts and ends bound it`)
}
