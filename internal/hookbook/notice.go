package hookbook

import (
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/hooks"
)

// kindsOf are the kinds of hooks that hear of an event.
func kindsOf(e hooks.Event) []Kind {
	switch e {
	case hooks.Start:
		return []Kind{OnPing}
	case hooks.Success:
		return []Kind{OnSuccess, OnPing, OnRecovered}
	case hooks.Failure:
		return []Kind{OnFailure, OnPing, OnPaused}
	case hooks.Missed:
		return []Kind{OnMissed}
	}
	return nil
}

// of is the event as hooks of a kind hear it: on_recovered hears of a recovery where on_success hears of a
// success.
func of(k Kind, e hooks.Event) hooks.Event {
	switch k {
	case OnRecovered:
		return hooks.Recovered
	case OnPaused:
		return hooks.Paused
	}
	return e
}

// EventOf is what the state of a job means; empty: nothing that a hook hears of.
func EventOf(s jobqueue.State) hooks.Event {
	switch s {
	case jobqueue.Running:
		return hooks.Start
	case jobqueue.Success:
		return hooks.Success
	case jobqueue.Failed:
		return hooks.Failure
	}
	return ""
}

// Bounds of the end of the output in a [hooks.Notice].
const (
	maxOutputLines = 50
	maxOutputBytes = 8 << 10
	maxError       = 2 << 10
)

// OfJob is the notice of a job's state, and the last lines of its log.
func OfJob(j jobqueue.Job, at time.Time, lines []string) hooks.Notice {
	n := hooks.Notice{Event: EventOf(j.State), At: at, Task: j.Tracker, Handler: j.Task, Job: &hooks.Job{
		ID: j.JID, State: string(j.State), Attempt: j.Attempt(), Group: j.Group, Subject: j.Subject,
		Submitted: j.Submitted, Started: orNone(j.Started), Finished: orNone(j.Finished),
	}, Traceparent: j.Traceparent}
	if !j.Due.IsZero() {
		n.Tick = &hooks.Tick{Due: j.Due, Decision: "submitted"}
	}
	if n.Event == hooks.Failure {
		n.Error = text.Clean(j.Result, maxError)
	}
	if n.Event != hooks.Start {
		n.Output = ending(lines)
	}
	return n
}

func orNone(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// ending is the end of an output, whole lines as far as they fit.
func ending(lines []string) string {
	lines = lines[max(0, len(lines)-maxOutputLines):]
	size := 0
	for i := len(lines) - 1; i >= 0; i-- {
		if size += len(lines[i]) + 1; size > maxOutputBytes {
			if i == len(lines)-1 {
				return text.Clean(lines[i], maxOutputBytes)
			}
			lines = lines[i+1:]
			break
		}
	}
	return strings.Join(lines, "\n")
}

// ownerOf is what the events of one topic have in common: the task, or for jobs without a
// tick the handler. Their trackers may all differ, and topics stay.
func ownerOf(n hooks.Notice) string {
	if n.Task != "" && n.Tick != nil {
		return n.Task
	}
	return n.Handler
}
