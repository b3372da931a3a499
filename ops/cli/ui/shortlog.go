package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// shortFormatter writes a line for somebody who watches a terminal: the time of
// day, what it is about, what became of it, and details. A line is as long as it
// has to be only if something is wrong.
type shortFormatter struct {
	zone   *time.Location
	device Terminal
	about  atomic.Int32 // width of the column for what a line is about: as the longest id so far
}

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
	event := service.EventOf(entry)
	if entry.Level >= logrus.InfoLevel && isQuiet(event) {
		return nil, nil
	}
	clock := entry.Time.In(f.zone).Format(time.TimeOnly)
	if f.device.Color {
		clock = dim.paint(clock)
	}
	if entry.Message == Stopping {
		return []byte(ownAndForeign(clock+"  ", stopping(entry)) + "\n"), nil
	}
	line, known := short(event)
	if !known {
		return []byte(f.general(clock, entry)), nil
	}
	aboutWidth := f.aboutWidth(line.about)
	about := runewidth.FillRight(runewidth.Truncate(Printable(line.about), aboutWidth, "…"), aboutWidth)
	became := runewidth.FillRight(line.became, becameWidth)
	if entry.Level >= logrus.InfoLevel {
		line.details = runewidth.Truncate(line.details, max(f.device.Width-len(time.TimeOnly)-aboutWidth-becameWidth-3*columnGap, 20), "…")
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
	grace, _ := entry.Data["grace"].(time.Duration)
	if entry.Data["jobs"] == nil {
		return "stopping"
	}
	return fmt.Sprintf("stopping: waiting up to %s for %s (%v); press Ctrl-C again to stop now",
		text.Exact(grace), Counted(entry.Data["jobs"], "job"), entry.Data["running"])
}

// quietFields tell a reader of a terminal little while all is well.
var quietFields = []string{"jid", "worker", "name"}

// isQuiet reports whether an event tells a reader of a terminal nothing that other lines do
// not.
func isQuiet(event any) bool {
	e, ok := event.(executor.Event)
	return ok && (e.Kind == executor.EventStarted || e.Kind == executor.EventStopping || e.Kind == executor.EventStopped)
}

// short is the line of an event about a tick or a job.
func short(event any) (line shortLine, known bool) {
	switch e := event.(type) {
	case scheduler.Event:
		switch e.Kind {
		case scheduler.EventTick:
			return ofTick(e), true
		case scheduler.EventProblem:
			return shortLine{e.Task.ID, "problem", e.Problem}, true
		}
	case executor.Event:
		if e.Kind == executor.EventEnded {
			return ofJob(e), true
		}
	}
	return line, false
}

func ofTick(e scheduler.Event) shortLine {
	line := shortLine{about: e.Tick.TaskID, became: string(e.Tick.Decision), details: view.Because(e.Tick.Cause, e.Tick.Reason)}
	switch {
	case e.Tick.Decision == periodic.Submitted && e.Task.Sink == periodic.SinkEvent:
		line.became, line.details = "event", "topic "+e.Task.Group
	case e.Tick.Decision == periodic.Submitted:
		line.details = ""
	case e.Tick.Decision == periodic.Missed && e.Tick.Missed < 0:
		line.details = "over 10000 ticks: " + line.details
	case e.Tick.Decision == periodic.Missed:
		line.details = Counted(e.Tick.Missed, "tick") + ": " + line.details
	}
	return line
}

// ofJob is the line of an attempt that has ended.
func ofJob(e executor.Event) shortLine {
	line := shortLine{about: cmp.Or(e.Job.Tracker, e.Job.Task), became: string(e.State)}
	switch e.State {
	case jobqueue.Success:
		line.became = "done"
	case jobqueue.Stuck:
		line.became = "retry"
	}
	if e.Err != nil {
		line.details = e.Err.Error() + " "
	}
	brackets := attempt(e)
	if e.Duration != 0 {
		brackets = append(brackets, text.Exact(e.Duration.Round(time.Millisecond)))
	}
	if len(brackets) > 0 {
		line.details += "(" + strings.Join(brackets, ", ") + ")"
	}
	return line
}

// attempt is said of jobs that needed several, need more, or failed for good before
// their last one.
func attempt(e executor.Event) []string {
	n := e.Job.Retries + 1
	early := e.State == jobqueue.Failed && n != e.Attempts && e.Attempts != 0
	switch {
	case n == 1 && e.State != jobqueue.Stuck && !early:
		return nil
	case e.Attempts == 0:
		return []string{fmt.Sprintf("attempt %d", n)}
	}
	return []string{fmt.Sprintf("attempt %d of %d", n, e.Attempts)}
}

// Counted says how many there are of something: 1 job, 2 jobs.
func Counted(n any, word string) string {
	if fmt.Sprint(n) != "1" {
		word += "s"
	}
	return fmt.Sprint(n, " ", word)
}
