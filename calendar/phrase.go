package calendar

import (
	"errors"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar/internal/elapse"
)

// otherWords improves the error of a timer that was written in everyday words, such as `every day
// at noon`.
func otherWords(t text, err error) error {
	meant := meantEvent(t.words)
	var wrong *ParseError
	if meant == "" || !errors.As(err, &wrong) {
		return err
	}
	what, _, _ := strings.Cut(wrong.Msg, "; ") // another suggestion would lead astray
	return t.failMeant(wrong.Offset, meant, "%s", what)
}

// meantEvent returns the calendar event that everyday words mean, or "": any of them must be known.
func meantEvent(words []word) string {
	var days, clock, zone, before string
	for i, w := range joinHalves(words) {
		at := clockMeant(w, before == "at")
		day := dayMeant(w)
		switch {
		case zone != "":
			return ""
		case at != "" && clock == "":
			clock = at
		case day != "" && days == "":
			days = day
		case day != "" && clock == "" && days != everyDay && day != everyDay:
			days += "," + day
		case i > 0 && isZone(w):
			zone = w
		case nearest(w, "every", "each") == "" && w != "at" && w != "on" && w != "and":
			return ""
		}
		before = strings.ToLower(w)
	}
	if clock == "" && (days == "" || days == everyDay || len(words) == 1) {
		return ""
	}
	if clock == "" {
		clock = "00:00"
	}
	if days == "" {
		days = everyDay
	}
	return ifEvent(strings.TrimSpace(days + " " + clock + " " + zone))
}

const everyDay = "*-*-*"

// joinHalves are the words, with `9 am` as one word.
func joinHalves(words []word) (list []string) {
	for _, w := range words {
		lower := strings.ToLower(w.text)
		if n := len(list); n > 0 && isDigit(list[n-1][0]) && (lower == "am" || lower == "pm") {
			list[n-1] += lower
			continue
		}
		list = append(list, w.text)
	}
	return list
}

// clockMeant returns the time of day that a word means, or "". A number alone is one behind `at`.
func clockMeant(w string, behindAt bool) string {
	switch w = strings.ToLower(w); w {
	case "noon", "midday":
		return "12:00"
	case "midnight":
		return "00:00"
	}
	layouts := []string{"3pm", "3:04pm", "15:04", "15:04:05"}
	if behindAt {
		layouts = append(layouts, "15")
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, w); err == nil && at.Second() > 0 {
			return at.Format(time.TimeOnly)
		} else if err == nil {
			return at.Format("15:04")
		}
	}
	return ""
}

// dayMeant returns the weekdays that a word means, [everyDay], or "".
func dayMeant(w string) string {
	switch lower := strings.ToLower(w); lower {
	case "day", "days", "daily":
		return everyDay
	case "weekday", "weekdays", "workday", "workdays":
		return "Mon..Fri"
	case "weekend", "weekends":
		return "Sat,Sun"
	}
	if !isLetter(w[0]) {
		return ""
	}
	for _, day := range []string{w, strings.TrimSuffix(w, "s")} {
		var spec eventSpec
		if newEventParser(text{timer: day}).event(&spec) == nil && spec.weekdays != 0 {
			return string(appendWeekdays(nil, spec.weekdays))
		}
	}
	return ""
}

func isZone(name string) bool {
	_, err := elapse.ZoneNamed(name)
	return isLetter(name[0]) && err == nil
}

// ifEvent returns a suggestion that is a calendar event, else nothing.
func ifEvent(suggestion string) string {
	if _, err := parseEvent(cut(suggestion)); err != nil {
		return ""
	}
	return suggestion
}
