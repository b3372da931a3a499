package ui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/span"
)

// shortFormatter writes a line for somebody who watches a terminal: the time of
// day, what it is about, what became of it, and details. A line is as long as it
// has to be only if something is wrong.
type shortFormatter struct {
	zone   *time.Location
	device Terminal
	about  atomic.Int32 // width of the column for what a line is about: as the longest id so far
}

// jobID is the id of a job at the end of a reason. "nextrun why" has it for those who
// need it.
var jobID = regexp.MustCompile(` \(job [0-9a-f-]+\)$`)

// shortLine is what a line says.
type shortLine struct{ about, became, details string }

// Widths of the columns for what a line is about and what became of it.
const (
	leastAboutWidth = 10
	mostAboutWidth  = 20
	becameWidth     = 9
)

// Format implements [logrus.Formatter].
func (f *shortFormatter) Format(entry *logrus.Entry) ([]byte, error) {
	if entry.Level >= logrus.InfoLevel && slices.Contains(quietMessages, entry.Message) {
		return nil, nil
	}
	clock := entry.Time.In(f.zone).Format(time.TimeOnly)
	if f.device.Color {
		clock = dim.paint(clock)
	}
	if entry.Message == Stopping {
		return []byte(ownAndForeign(clock+"  ", stopping(entry)) + "\n"), nil
	}
	line, known := short(entry)
	if !known {
		return []byte(f.general(clock, entry)), nil
	}
	aboutWidth := f.aboutWidth(line.about)
	about := runewidth.FillRight(shortenMiddle(Printable(line.about), aboutWidth), aboutWidth)
	became := runewidth.FillRight(line.became, becameWidth)
	if entry.Level >= logrus.InfoLevel {
		line.details = shortenMiddle(line.details, max(f.device.Width-len(time.TimeOnly)-aboutWidth-becameWidth-3*columnGap, 20))
	}
	if f.device.Color {
		became = stateStyles[strings.TrimSpace(line.became)].paint(became)
	}
	return []byte(strings.TrimRight(ownAndForeign(clock+"  "+about+"  "+became+"  ", line.details), " ") + "\n"), nil
}

// aboutWidth grows with the ids, so that lines stay aligned and have room for details.
func (f *shortFormatter) aboutWidth(id string) int {
	width := max(f.about.Load(), leastAboutWidth, min(int32(runewidth.StringWidth(id)), mostAboutWidth))
	f.about.Store(width)
	return int(width)
}

// ownAndForeign joins a part of a line that may hold colours, and one that must not.
func ownAndForeign(own, foreign string) string {
	return own + Printable(strings.ReplaceAll(foreign, "\n", " "))
}

// general is the line of an entry that is not about a tick or a job.
func (f *shortFormatter) general(clock string, entry *logrus.Entry) string {
	message := entry.Message
	if f.device.Color {
		switch {
		case entry.Level <= logrus.ErrorLevel:
			message = red.paint(message)
		case entry.Level == logrus.WarnLevel:
			message = yellow.paint(message)
		}
	}
	var fields []string
	for _, name := range fieldsInOrder(entry.Data) {
		if entry.Level < logrus.InfoLevel || !slices.Contains(quietFields, name) {
			fields = append(fields, name+"="+logValue(entry.Data[name]))
		}
	}
	return strings.TrimRight(ownAndForeign(clock+"  "+message+"  ", strings.Join(fields, "  ")), " ") + "\n"
}

// Stopping is the message of a process that a signal ends. Its fields may be jobs, the
// number of jobs that still run; running, what they are called; and grace.
const Stopping = "stopping; a second signal ends it at once"

// stopping is the line for somebody who has pressed Control-C.
func stopping(entry *logrus.Entry) string {
	if entry.Data["jobs"] == nil {
		return "stopping"
	}
	n := fmt.Sprint(entry.Data["jobs"])
	return fmt.Sprintf("stopping: waiting up to %s for %s (%v); press Ctrl-C again to stop now",
		took(fmt.Sprint(entry.Data["grace"])), Counted(n, "job"), entry.Data["running"])
}

// quietMessages tell a reader of a terminal nothing that other lines do not.
var quietMessages = []string{"executor started", "executor is stopping", "executor stopped"}

// quietFields tell a reader of a terminal little while all is well.
var quietFields = []string{"jid", "worker", "name"}

// short is the line of an entry about a tick or a job.
func short(entry *logrus.Entry) (line shortLine, known bool) {
	text := func(names ...string) string {
		for _, name := range names {
			if value, ok := entry.Data[name]; ok && fmt.Sprint(value) != "" {
				return fmt.Sprint(value)
			}
		}
		return ""
	}
	line.about = text("id", "task")
	switch entry.Message {
	case "job submitted":
		line.became = "submitted"
	case "event written":
		line.became, line.details = "event", "topic "+text("topic")
	case "tick skipped", "tick queued", "tick late":
		line.became, line.details = strings.TrimPrefix(entry.Message, "tick "), jobID.ReplaceAllString(text("reason"), "")
	case "ticks missed":
		line.became = "missed"
		line.details = Counted(text("missed"), "tick") + ": " + text("reason")
	case "task has a problem":
		line.became, line.details = "problem", text("problem")
	case "job ended", "job failed, and is tried again":
		line.became = becameOf(text("state"))
		line.details = join(text("error"), inBrackets(attempt(text("attempt"), text("max_attempts"), text("state")), took(text("duration"))))
	default:
		return line, false
	}
	return line, line.about != ""
}

// becameOf is the word for the state of a job that has ended for now.
func becameOf(state string) string {
	switch state {
	case "success":
		return "done"
	case "stuck":
		return "retry"
	}
	return state
}

// attempt is said of jobs that needed several, need more, or failed for good before
// their last one.
func attempt(n, most, state string) string {
	early := state == "failed" && n != most && most != ""
	switch {
	case n == "", n == "1" && state != "stuck" && !early:
		return ""
	case most == "":
		return "attempt " + n
	}
	return "attempt " + n + " of " + most
}

// took writes how long a job ran.
func took(text string) string {
	d, err := time.ParseDuration(text)
	if err != nil {
		return text
	}
	return span.Exact(d)
}

func inBrackets(parts ...string) string {
	if text := strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", "); text != "" {
		return "(" + text + ")"
	}
	return ""
}

func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
}

// Counted says how many there are of something: 1 job, 2 jobs.
func Counted(n any, word string) string {
	if fmt.Sprint(n) != "1" {
		word += "s"
	}
	return fmt.Sprint(n, " ", word)
}
