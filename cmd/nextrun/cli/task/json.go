package task

import (
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/tick"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

// taskJSON is the JSON form of a task: its columns, durations in seconds, null where
// they are NULL, and what became of it last.
type taskJSON struct {
	ID        string     `json:"id"`
	Enabled   bool       `json:"enabled"`
	Task      string     `json:"task"`
	Group     string     `json:"group"`
	Args      string     `json:"args"`
	Subject   string     `json:"subject"`
	Submitter string     `json:"submitter"`
	Priority  int        `json:"priority"`
	Worker    *string    `json:"worker"`
	Marked    *time.Time `json:"marked"`
	Timer     string     `json:"timer"`
	NextRun   time.Time  `json:"nextrun"`
	Created   time.Time  `json:"created"`
	Summary   *string    `json:"summary"`
	Due       *time.Time `json:"due"`
	Starts    *time.Time `json:"starts"`
	Ends      *time.Time `json:"ends"`
	Overlap   string     `json:"overlap"`
	Catchup   string     `json:"catchup"`
	Grace     int64      `json:"grace"`
	Deadline  *int64     `json:"deadline"`
	Jitter    int64      `json:"jitter"`
	Sink      string     `json:"sink"`

	RetryLimit  *int   `json:"retry_limit"`
	RetryDelay  *int64 `json:"retry_delay"`
	Timeout     *int64 `json:"timeout"`
	Concurrency *int   `json:"concurrency"`

	Paused       *time.Time `json:"paused"`
	PausedUntil  *time.Time `json:"paused_until"`
	PausedBy     *string    `json:"paused_by"`
	PausedReason *string    `json:"paused_reason"`

	Problem *string `json:"problem"`

	LastTick *tick.JSON `json:"last_tick"`
	LastRun  *runJSON   `json:"last_run"`
}

// runJSON is the last run of a task.
type runJSON struct {
	Due       time.Time  `json:"due"`
	Submitted time.Time  `json:"submitted"`
	JID       string     `json:"jid"`
	State     *string    `json:"state"`
	Retries   int        `json:"retries"`
	Started   *time.Time `json:"started"`
	Finished  *time.Time `json:"finished"`
	Result    *string    `json:"result"`
}

func newTaskJSON(t *periodic.Task, o periodic.Outcome) taskJSON {
	j := taskJSON{
		ID: t.ID, Enabled: t.Enabled, Task: t.Task, Group: t.Group, Args: t.Args, Subject: t.Subject, Submitter: t.Submitter,
		Priority: t.Priority, Worker: ui.TextOrNull(t.Worker), Marked: ui.TimeOrNull(t.Marked), Timer: t.Timer, NextRun: t.NextRun,
		Created: t.Created, Summary: ui.TextOrNull(t.Summary), Due: ui.TimeOrNull(t.Due), Starts: ui.TimeOrNull(t.Starts),
		Ends: ui.TimeOrNull(t.Ends), Overlap: string(t.Overlap), Catchup: string(t.Catchup),
		Grace: int64(t.Grace / time.Second), Jitter: int64(t.Jitter / time.Second), Sink: string(t.Sink), Problem: ui.TextOrNull(t.Problem),
		RetryLimit: t.RetryLimit, RetryDelay: ui.SecondsOrNull(t.RetryDelay), Timeout: ui.SecondsOrNull(t.Timeout),
		Concurrency: ui.NumberOrNull(t.Concurrency),
		Paused:      ui.TimeOrNull(t.Pause.Since), PausedUntil: ui.TimeOrNull(t.Pause.Until),
		PausedBy: ui.TextOrNull(t.Pause.By), PausedReason: ui.TextOrNull(t.Pause.Reason),
	}
	if t.Deadline != nil {
		seconds := int64(*t.Deadline / time.Second)
		j.Deadline = &seconds
	}
	if !o.Last.Due.IsZero() {
		last, result := o.Last, o.Result
		if last.Decision != periodic.Submitted {
			result = periodic.Result{}
		}
		k := tick.NewJSON(last, result)
		j.LastTick = &k
	}
	if o.Run != nil {
		j.LastRun = &runJSON{
			Due: o.Run.Due, Submitted: o.Run.Decided, JID: o.Run.JID, State: ui.TextOrNull(o.Result.State), Retries: o.Result.Retries,
			Started: ui.TimeOrNull(o.Result.Started), Finished: ui.TimeOrNull(o.Result.Finished), Result: ui.TextOrNull(o.Result.Message),
		}
	}
	return j
}

// showJSON is the JSON form of a task by itself.
type showJSON struct {
	taskJSON
	Upcoming []time.Time `json:"upcoming"`
	Ticks    []tick.JSON `json:"ticks"`
}
