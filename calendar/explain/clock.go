package explain

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nextrun/nextrun/calendar/internal/elapse"
)

// explainClock describes the times of a day.
func explainClock(c *elapse.Clock) string {
	hours, minutes := elapse.Members(uint64(c.Hours)), elapse.Members(c.Minutes)
	if c.Parts == nil && !c.EveryHour() && len(hours)*len(minutes)*len(elapse.Members(c.Seconds)) <= 6 {
		return "at " + joined(timesOfDay(c))
	}
	seconds := explainSeconds(c)
	switch {
	case seconds == "" && c.Minutes == 1:
		return hourly(c, hours)
	case seconds == "":
		at := explainField(c.Minutes, 59, "minute")
		return at + duringHours(c, strings.HasPrefix(at, "every"))
	case !c.EveryHour() && len(hours)*len(minutes) <= 6:
		full := elapse.Clock{Hours: c.Hours, Minutes: c.Minutes, Seconds: 1}
		return seconds + " of the minute" + plural(len(hours)*len(minutes)) + " " + joined(timesOfDay(&full))
	case c.Minutes == 1<<60-1 && strings.HasPrefix(seconds, "every"):
		return seconds + duringHours(c, true)
	case c.Minutes == 1<<60-1:
		return seconds + " of every minute" + duringHours(c, true)
	}
	return seconds + " of minute" + plural(len(minutes)) + " " + listed(minutes, strconv.Itoa) + duringHours(c, false)
}

// timesOfDay lists every single time.
func timesOfDay(c *elapse.Clock) (times []string) {
	for t, ok := c.Next(0); ok; t, ok = c.Next(t + elapse.Second) {
		times = append(times, clockText(t))
	}
	return times
}

// clockText leaves out seconds of zero.
func clockText(t elapse.Wall) string {
	text := fmt.Sprintf("%02d:%02d", t/elapse.Hour, t%elapse.Hour/elapse.Minute)
	if s := t % elapse.Minute / elapse.Second; s > 0 {
		text += fmt.Sprintf(":%02d", s)
	}
	return text
}

// hourly describes full hours.
func hourly(c *elapse.Clock, hours []int) string {
	if text := explainField(uint64(c.Hours), 23, "hour"); strings.HasPrefix(text, "every") {
		return text
	}
	return "on the hour at " + listed(hours, func(h int) string { return clockText(elapse.Wall(h) * elapse.Hour) })
}

// duringHours is the end of a description: the hours to which it applies.
func duringHours(c *elapse.Clock, often bool) string {
	hours := elapse.Members(uint64(c.Hours))
	first, last := hours[0], hours[len(hours)-1]
	switch {
	case c.EveryHour() && often:
		return ""
	case c.EveryHour():
		return " of every hour"
	case last-first == len(hours)-1:
		return fmt.Sprintf(" from %02d:00 to %02d:59", first, last)
	}
	return " of hour" + plural(len(hours)) + " " + listed(hours, strconv.Itoa)
}

// explainSeconds describes the seconds of the minute; nothing for the full minute. Fractions are as the timer puts them.
func explainSeconds(c *elapse.Clock) string {
	switch {
	case c.Parts != nil:
		return "at second " + string(c.Parts.Append(nil, 1, int64(elapse.Second)))
	case c.Seconds == 1:
		return ""
	}
	return explainField(c.Seconds, 59, "second")
}

// explainField describes the values of a field from 0 to high: "every 5 minutes", "at minutes 1, 2
// and 30".
func explainField(set uint64, high int, unit string) string {
	list := elapse.Members(set)
	if len(list) == high+1 {
		return "every " + unit
	}
	if step := stepOf(list); list[0] == 0 && step > 0 && (high+1)%step == 0 && list[len(list)-1]+step == high+1 {
		return fmt.Sprintf("every %d %ss", step, unit)
	}
	return "at " + unit + plural(len(list)) + " " + listed(list, strconv.Itoa)
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
