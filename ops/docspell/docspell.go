// Package docspell knows which rows of periodic_task Docspell can read. Docspell
// reads the rows of its own database with types that refuse more than the columns do;
// a row that they refuse ends the periodic scheduler of every joex.
//
// What is written here was read in the source of Docspell at commit ea8420ab (after
// version 0.43, July 2026): common/Ident.scala, store/records/RPeriodicTask.scala,
// joex/JoexTasks.scala; and of calev 0.7.4, which reads the timers.
package docspell

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/periodic"
)

// version is the version of Docspell whose names of tasks taskNames has.
const version = "0.43"

// taskNames are the tasks that a joex can run.
var taskNames = []string{
	"addon-existing-item", "addon-scheduled-task", "all-file-integrity-check", "all-page-count", "all-previews",
	"copy-file-repositories", "download-query-zip", "empty-trash", "full-text-index", "full-text-reindex", "housekeeping",
	"learn-classifier", "make-page-count", "make-preview", "multi-upload-process", "new-release-check",
	"pdf-files-migration", "periodic-due-items-notify2", "periodic-query-notify2", "process-item", "re-process-item",
	"scan-mailbox", "submit-pdf-migration-tasks",
}

// Warnings says what in a task Docspell cannot read or run. now is the anchor of
// intervals.
func Warnings(t *periodic.Task, now time.Time) (list []string) {
	columns := []struct{ name, value string }{{"id", t.ID}, {"task", t.Task}, {"group_", t.Group}, {"submitter", t.Submitter}}
	for _, c := range columns {
		if !isIdent(c.value) {
			list = append(list, fmt.Sprintf("Docspell cannot read %s %q, and its periodic scheduler would end: "+
				"use letters, digits, and - _ . @", c.name, c.value))
		}
	}
	if !readsTimer(t.Timer) {
		list = append(list, fmt.Sprintf("Docspell cannot read the timer %q, and its periodic scheduler would end: %s",
			t.Timer, readable(t.Timer, now)))
	}
	if t.Sink == periodic.SinkJob && !slices.Contains(taskNames, t.Task) {
		list = append(list, fmt.Sprintf("Docspell %s has no task %q: a joex that takes the job runs one job fewer at a time "+
			"until it is restarted", version, t.Task))
	}
	if t.Sink == periodic.SinkJob && t.Overlapping() {
		list = append(list, "overlap allow can give the task two jobs that have not ended, and Docspell's periodic scheduler fails when it finds two: use skip or queue")
	}
	return list
}

// isIdent reports whether Docspell's type Ident takes a text.
func isIdent(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.@", r)
	})
}

// The grammar of calev: weekdays may be left out, date and hour may not.
const (
	calevDay    = `(?:(?i:mon(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?))`
	calevDays   = calevDay + `(?:\.\.` + calevDay + `)?`
	calevTwo    = `\d{1,2}(?:\.\.\d{1,2})?(?:/\d{1,2})?`
	calevYear   = `\d{4}(?:\.\.\d{4})?(?:/\d{1,2})?`
	calevTwos   = `(?:\*|` + calevTwo + `(?:,` + calevTwo + `)*)`
	calevYears  = `(?:\*|` + calevYear + `(?:,` + calevYear + `)*)`
	calevOffset = `Z|[+-](?:\d|\d\d|\d{4}|\d\d:\d\d|\d{6}|\d\d:\d\d:\d\d)`
)

var (
	calevEvent = regexp.MustCompile(`^(?:(` + calevDays + `(?:,` + calevDays + `)*) )?` +
		calevYears + `-` + calevTwos + `-` + calevTwos + ` ` + calevTwos + `:` + calevTwos + `(?::` + calevTwos + `)?` + `(?: (\S+))?$`)
	calevZone = regexp.MustCompile(`^(?:` + calevOffset + `|[A-Za-z].*)$`)
	oneDay    = regexp.MustCompile(`(?i)\b([a-z]{3})[a-z]*\.\.([a-z]{3})[a-z]*`)
)

// unknownZones are names of the zone database that Java does not know, and one that is
// written in another case there.
var unknownZones = []string{"Factory", "GMT+0", "GMT-0", "ROC", "utc"}

// readsTimer reports whether calev reads a timer. The timer is one that package
// calendar takes; what that refuses is not checked again.
func readsTimer(timer string) bool {
	match := calevEvent.FindStringSubmatch(strings.TrimSpace(timer))
	if match == nil {
		return false
	}
	for _, days := range oneDay.FindAllStringSubmatch(match[1], -1) {
		if strings.EqualFold(days[1], days[2]) { // a range has two days
			return false
		}
	}
	zone := match[2]
	return zone == "" || calevZone.MatchString(zone) && !slices.Contains(unknownZones, zone)
}

// readable says how to write a timer for calev.
func readable(timer string, now time.Time) string {
	if schedule, err := calendar.ParseAt(timer, now); err == nil && readsTimer(schedule.String()) {
		return fmt.Sprintf("write it as %q", schedule)
	}
	return `use a calendar event with date and time, such as "Mon..Fri *-*-* 02:00:00 Europe/Berlin"`
}
