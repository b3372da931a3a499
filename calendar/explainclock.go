package calendar

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// explainClock describes the times of a day.
func explainClock(c *clock) string {
	hours, minutes := members(uint64(c.hours)), members(c.minutes)
	if c.parts == nil && !c.everyHour() && len(hours)*len(minutes)*len(members(c.seconds)) <= 6 {
		return "at " + joined(timesOfDay(c))
	}
	seconds := explainSeconds(c)
	switch {
	case seconds == "" && c.minutes == 1:
		return hourly(c, hours)
	case seconds == "":
		at := explainField(c.minutes, 59, "minute")
		return at + c.duringHours(strings.HasPrefix(at, "every"))
	case !c.everyHour() && len(hours)*len(minutes) <= 6:
		full := clock{hours: c.hours, minutes: c.minutes, seconds: 1}
		return seconds + " of the minute" + plural(len(hours)*len(minutes)) + " " + joined(timesOfDay(&full))
	case c.minutes == 1<<60-1 && strings.HasPrefix(seconds, "every"):
		return seconds + c.duringHours(true)
	case c.minutes == 1<<60-1:
		return seconds + " of every minute" + c.duringHours(true)
	}
	return seconds + " of minute" + plural(len(minutes)) + " " + listed(minutes, number) + c.duringHours(false)
}

// timesOfDay lists every single time.
func timesOfDay(c *clock) (times []string) {
	for t, ok := c.next(0); ok; t, ok = c.next(t + second) {
		times = append(times, clockText(t))
	}
	return times
}

// clockText leaves out seconds of zero.
func clockText(t wall) string {
	text := fmt.Sprintf("%02d:%02d", t/hour, t%hour/minute)
	if s := t % minute / second; s > 0 {
		text += fmt.Sprintf(":%02d", s)
	}
	return text
}

// hourly describes full hours.
func hourly(c *clock, hours []int) string {
	if text := explainField(uint64(c.hours), 23, "hour"); strings.HasPrefix(text, "every") {
		return text
	}
	return "on the hour at " + listed(hours, func(h int) string { return clockText(wall(h) * hour) })
}

// duringHours describes the hours in which something happens that has been described already.
func (c *clock) duringHours(often bool) string {
	hours := members(uint64(c.hours))
	first, last := hours[0], hours[len(hours)-1]
	switch {
	case c.everyHour() && often:
		return ""
	case c.everyHour():
		return " of every hour"
	case last-first == len(hours)-1:
		return fmt.Sprintf(" from %02d:00 to %02d:59", first, last)
	}
	return " of hour" + plural(len(hours)) + " " + listed(hours, number)
}

// explainSeconds describes the seconds of the minute; nothing for the full minute.
func explainSeconds(c *clock) string {
	if c.parts == nil {
		if c.seconds == 1 {
			return ""
		}
		return explainField(c.seconds, 59, "second")
	}
	if len(c.parts) == 1 && c.parts[0].start == 0 && c.parts[0].stop < 0 && c.parts[0].repeat > 0 {
		return "every " + fmt.Sprint(time.Duration(c.parts[0].repeat)*time.Microsecond)
	}
	var values []string
	for _, p := range c.parts {
		values = append(values, strconv.FormatFloat(float64(p.start)/float64(second), 'f', -1, 64))
		if p.repeat > 0 {
			return "at seconds " + string(c.parts.append(nil, 1, int64(second))) // as the timer puts it
		}
	}
	return "at second " + joined(values)
}

// explainField describes the values of a field from 0 to high: "every 5 minutes", "at minutes 1, 2 and 30".
func explainField(set uint64, high int, unit string) string {
	list := members(set)
	if len(list) == high+1 {
		return "every " + unit
	}
	if step := stepOf(list); list[0] == 0 && step > 0 && (high+1)%step == 0 && list[len(list)-1]+step == high+1 {
		return fmt.Sprintf("every %d %ss", step, unit)
	}
	return "at " + unit + plural(len(list)) + " " + listed(list, number)
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
