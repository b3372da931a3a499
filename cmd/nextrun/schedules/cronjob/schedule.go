package cronjob

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
)

// nicknames are those that Kubernetes knows.
var nicknames = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// Timer is the timer of a schedule of Kubernetes in a zone, and what is not as it was.
func Timer(schedule, zone string) (timer, change string, err error) {
	if text, ok := strings.CutPrefix(schedule, "@every "); ok {
		d, err := time.ParseDuration(text)
		if err != nil {
			return "", "", fmt.Errorf("%q is no duration", text)
		}
		d = max(d.Truncate(time.Second), time.Second) // as Kubernetes does
		timer = every(d)
		_, err = calendar.Parse(timer)
		return timer, "it counts from the creation of the task, not of the CronJob", err
	}
	expression := schedule
	if nickname, ok := nicknames[schedule]; ok {
		expression = nickname
	}
	fields := strings.Fields(expression)
	for i, field := range fields {
		items := strings.FieldsFunc(field, func(r rune) bool { return r == ',' }) // Kubernetes passes over empty ones
		if len(items) == 0 {
			return "", "", fmt.Errorf("%q never elapses: a field is empty", schedule)
		}
		fields[i] = strings.Join(items, ",")
	}
	if len(fields) != 5 || strings.ContainsAny(expression, "#LlWw") && badDays(fields) || strings.Contains(fields[4], "7") && hasSeven(fields[4]) {
		return "", "", fmt.Errorf("%q is no schedule of Kubernetes, which refuses it, too", schedule)
	}
	fields[2], fields[4] = eitherDay(fields[2], fields[4])
	timer = strings.Join(fields, " ")
	if zone != "" && zone != "UTC" && zone != "Etc/UTC" {
		timer = "CRON_TZ=" + zone + " " + timer
	}
	_, err = calendar.Parse(timer)
	return timer, "", err
}

// every is an interval of nextrun, which has no parts that are 0.
func every(d time.Duration) string {
	text := "every "
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if n := int64(d / u.size); n > 0 {
			text += strconv.FormatInt(n, 10) + u.name
			d %= u.size
		}
	}
	return text
}

// badDays finds what nextrun knows in the fields of days, and Kubernetes does not.
func badDays(fields []string) bool {
	return strings.ContainsAny(strings.ReplaceAll(strings.ToUpper(fields[2]+" "+fields[4]), "WED", ""), "#LW")
}

// hasSeven reports whether Sunday has the number 7, which Kubernetes refuses.
func hasSeven(weekdays string) bool {
	for item := range strings.SplitSeq(weekdays, ",") {
		numbers, _, _ := strings.Cut(item, "/")
		if slices.Contains(strings.Split(numbers, "-"), "7") {
			return true
		}
	}
	return false
}

// eitherDay writes days so that nextrun combines them as Kubernetes does. There, */2 is
// a restriction like any other, and a day elapses when one of two restrictions matches.
// For cron and nextrun both must match when one begins with a star.
func eitherDay(days, weekdays string) (newDays, newWeekdays string) {
	star := func(field string) bool {
		for item := range strings.SplitSeq(field, ",") {
			if item == "*" || item == "?" || item == "*/1" || item == "?/1" {
				return true
			}
		}
		return false
	}
	if star(days) {
		days = "*"
	}
	if star(weekdays) {
		weekdays = "*"
	}
	if days == "*" || weekdays == "*" {
		return days, weekdays
	}
	stepped := func(field, all string) string {
		items := strings.Split(field, ",")
		for i, item := range items {
			for _, star := range []string{"*/", "?/"} {
				if step, ok := strings.CutPrefix(item, star); ok {
					items[i] = all + "/" + step
				}
			}
		}
		return strings.Join(items, ",")
	}
	return stepped(days, "1-31"), stepped(weekdays, "0-6")
}
