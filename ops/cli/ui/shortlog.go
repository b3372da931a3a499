package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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
}

// shortLine is what a line says of a tick or a job.
type shortLine struct{ about, became, details string }

// Widths of the columns for what a line is about and what became of it.
const (
	aboutWidth  = 16
	becameWidth = 9
)

// Format implements [logrus.Formatter].
func (f *shortFormatter) Format(entry *logrus.Entry) ([]byte, error) {
	event := service.EventOf(entry.Context)
	if isQuiet(event) {
		return nil, nil
	}
	ours, details := f.general(entry)
	if line, is := short(event); is {
		ours, details = f.line(line)
		if entry.Level >= logrus.InfoLevel {
			details = runewidth.Truncate(details, max(f.device.Width-len(time.TimeOnly)-aboutWidth-becameWidth-3*columnGap, 20), "…")
		}
	}
	clock := f.device.paint(dim, entry.Time.In(f.zone).Format(time.TimeOnly))
	text := clock + "  " + ours + "  " + Printable(strings.ReplaceAll(details, "\n", " "))
	return []byte(strings.TrimRight(text, " ") + "\n"), nil
}

// line is the beginning of a line about a tick or a job, and its details.
func (f *shortFormatter) line(l shortLine) (ours, details string) {
	about := runewidth.FillRight(runewidth.Truncate(Printable(l.about), aboutWidth, "…"), aboutWidth)
	return about + "  " + f.device.state(runewidth.FillRight(l.became, becameWidth)), l.details
}

// quietFields tell a reader of a terminal little while all is well.
var quietFields = []string{"jid", "worker", "name"}

// general is the beginning of a line about something else, and its fields.
func (f *shortFormatter) general(entry *logrus.Entry) (ours, fields string) {
	colour := plain
	switch {
	case entry.Level <= logrus.ErrorLevel:
		colour = red
	case entry.Level == logrus.WarnLevel:
		colour = yellow
	}
	for _, name := range fieldsInOrder(entry.Data) {
		if entry.Level < logrus.InfoLevel || !slices.Contains(quietFields, name) {
			fields += name + "=" + logValue(entry.Data[name]) + "  "
		}
	}
	return f.device.paint(colour, entry.Message), fields
}

// isQuiet reports whether an event tells a reader of a terminal nothing that other lines do
// not.
func isQuiet(event any) bool {
	e, ok := event.(executor.Event)
	return ok && (e.Kind == executor.EventStarted || e.Kind == executor.EventStopping && e.Running == "" || e.Kind == executor.EventStopped)
}

// short is the line of an event about a tick or a job.
func short(event any) (line shortLine, is bool) {
	switch e := event.(type) {
	case scheduler.Event:
		switch e.Kind {
		case scheduler.EventTick:
			return ofTick(e), true
		case scheduler.EventProblem:
			return shortLine{e.Task.ID, "problem", e.Problem}, true
		}
	case executor.Event:
		return ofJob(e), e.Kind == executor.EventEnded
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

// ofJob is the line of an attempt that has ended. Which one it was is said of jobs that need, or needed, several.
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
	var brackets []string
	switch n := e.Job.Retries + 1; {
	case e.Attempts > 1 && (n > 1 || e.Err != nil):
		brackets = append(brackets, fmt.Sprintf("attempt %d of %d", n, e.Attempts))
	case n > 1:
		brackets = append(brackets, fmt.Sprintf("attempt %d", n))
	}
	if e.Duration != 0 {
		brackets = append(brackets, text.Exact(e.Duration.Round(time.Millisecond)))
	}
	if len(brackets) > 0 {
		line.details += "(" + strings.Join(brackets, ", ") + ")"
	}
	return line
}
