package calendar

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nextrun/nextrun/calendar/internal/elapse"
)

// What other programs know and this package does not: its errors say what to write instead.

// hashed begins with an item of a cron expression as Jenkins has it: H, H/15, H(0-29) or H(0-29)/10.
var hashed = regexp.MustCompile(`^[Hh](?:\(((\d+)-\d+)\))?(?:/(\d+))?(?:[,\s]|$)`)

const day = 24 * 60 * 60

// hashWidths are how many seconds a field with an H spreads over, and how many one step of it.
var hashWidths = [cronYear][2]int{{60, 1}, {3600, 60}, {day, 3600}, {28 * day, day}, {365 * day, 28 * day}, {7 * day, day}}

// otherCron improves the error of a cron expression that has what other programs know.
func (p *cronParser) otherCron(words []word, err error) error {
	return cmp.Or(p.notHash(err), p.behind(words), err)
}

// notHash is the error for the H of cron, which stands for a number that differs from task to task. Its
// like is the column jitter. nil: something else is wrong.
func (p *cronParser) notHash(err error) error {
	var wrong *ParseError
	if !errors.As(err, &wrong) || !hashed.MatchString(p.timer[wrong.Offset:]) || p.reading == cronYear {
		return nil
	}
	here := slices.IndexFunc(p.words, func(w word) bool { return wrong.Offset < w.at+len(w.text) })
	words, width := make([]string, len(p.words)), 0
	for i, w := range p.words {
		field := p.reading + i - here
		items := strings.Split(w.text, ",")
		for k, item := range items {
			if match := hashed.FindStringSubmatch(item); match != nil && field < cronYear {
				number, seconds := withoutHash(field, match)
				items[k], width = number, max(width, seconds)
			}
		}
		words[i] = strings.Join(items, ",")
	}
	example := ""
	if meant := ifTimer(strings.Join(words, " ")); meant != "" {
		example = fmt.Sprintf(", as in %q", meant)
	}
	return p.failAt(wrong.Offset, "H is no %s; write a number%s, and give the task a jitter: --jitter %d", cronFields[p.reading].name, example, width)
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

// withoutHash is what to write for an item with H, and the jitter that goes with it.
func withoutHash(f int, match []string) (item string, seconds int) {
	step, err := strconv.Atoi(match[3])
	switch {
	case err == nil && match[1] != "":
		return match[1] + "/" + match[3], step * hashWidths[f][1]
	case err == nil:
		return "*/" + match[3], step * hashWidths[f][1]
	case match[1] != "":
		return match[2], hashWidths[f][0]
	}
	return strconv.Itoa(cronFields[f].low), hashWidths[f][0]
}

// ruleParts finds the parts of an RRULE of iCalendar (RFC 5545, 3.3.10).
var ruleParts = regexp.MustCompile(`(?i)(?:^|[;:\s])(FREQ|INTERVAL|COUNT|UNTIL|BYDAY|BYMONTHDAY|BYMONTH|BYHOUR|BYMINUTE|BYSECOND|BYSETPOS|BYYEARDAY|BYWEEKNO|DTSTART|EXDATE)[=;:]([^;\s]*)`)

// notRule is the error for an RRULE; nil: the timer is none.
func notRule(timer string) error {
	rule := map[string]string{}
	for _, part := range ruleParts.FindAllStringSubmatch(timer, -1) {
		rule[strings.ToUpper(part[1])] = strings.ToUpper(part[2])
	}
	if rule["FREQ"] == "" {
		return nil
	}
	msg := "an RRULE is not a timer"
	for _, other := range []struct{ part, column string }{{"COUNT", "ends"}, {"UNTIL", "ends"}} {
		if value := rule[other.part]; value != "" {
			msg += "; instead of " + other.part + " set " + other.column
		}
	}
	meant := ""
	if rule["BYSETPOS"]+rule["BYYEARDAY"]+rule["BYWEEKNO"] == "" {
		meant = ifTimer(ruleMeant(rule))
	}
	if meant == "" {
		msg += `; write a calendar event, such as "Mon *-*-1..7 09:00" for the first Monday of each month, or an interval, such as "every 2 weeks from 2026-01-31T09:00:00Z"`
	}
	return text{timer: timer}.failMeant(0, meant, "%s", msg)
}

// ruleUnits are the units of intervals.
var ruleUnits = map[string]string{"SECONDLY": "s", "MINUTELY": "m", "HOURLY": "h", "DAILY": " days", "WEEKLY": " weeks", "MONTHLY": " months", "YEARLY": " years"}

// ruleMeant is the timer that an RRULE means, or nearly so: at midnight if it does not name an hour.
func ruleMeant(rule map[string]string) string {
	freq, or := rule["FREQ"], func(part, other string) string { return cmp.Or(rule[part], other) }
	if n := or("INTERVAL", "1"); n != "1" {
		if rule["BYDAY"]+rule["BYMONTHDAY"]+rule["BYMONTH"]+rule["BYHOUR"] != "" {
			return ""
		}
		return "every " + n + ruleUnits[freq]
	}
	month, day, hour, minute := "*", "*", "00", "00"
	switch freq {
	case "YEARLY":
		month, day = "1", "1"
	case "MONTHLY":
		day = "1"
	case "WEEKLY":
		if rule["BYDAY"] == "" {
			return "weekly"
		}
	case "HOURLY":
		hour = "*"
	case "MINUTELY":
		hour, minute = "*", "*"
	}
	weekdays, nth, ok := ruleWeekdays(rule["BYDAY"])
	dash := "-"
	switch days := rule["BYMONTHDAY"]; {
	case !ok || nth != 0 && days != "":
		return ""
	case nth > 0:
		day = strconv.Itoa(7*nth-6) + ".." + strconv.Itoa(7*nth)
	case nth == -1:
		dash, day = "~", "7/1"
	case strings.HasPrefix(days, "-"):
		dash, day = "~", days[1:]
	case days != "":
		day = days
	case weekdays != "":
		day = "*"
	}
	date := "*-" + or("BYMONTH", month) + dash + day
	return strings.TrimSpace(weekdays + " " + date + " " + or("BYHOUR", hour) + ":" + or("BYMINUTE", minute))
}

// ruleWeekdays reads BYDAY: several weekdays, or the nth one of a month; -1 is the last one.
func ruleWeekdays(days string) (weekdays string, nth int, ok bool) {
	if days == "" {
		return "", 0, true
	}
	list := strings.Split(days, ",")
	for i, name := range list {
		letters := strings.TrimLeft(name, "+-0123456789")
		number, err := strconv.Atoi(cmp.Or(strings.TrimSuffix(name, letters), "0"))
		at := strings.Index("MOTUWETHFRSASU", letters)
		if len(letters) != 2 || at < 0 || at%2 != 0 || err != nil || number < -1 || number != 0 && len(list) > 1 {
			return "", 0, false
		}
		list[i], nth = weekdayNames[at/2][:3], number
	}
	return strings.Join(list, ","), nth, true
}
