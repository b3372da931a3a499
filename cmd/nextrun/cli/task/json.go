package task

import (
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/tick"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

// taskJSON is the JSON form of a task: its columns, and what became of it last.
func taskJSON(t *periodic.Task, o periodic.Outcome) ui.Object {
	var last *tick.JSON
	if !o.Last.Due.IsZero() {
		result := o.Result
		if o.Last.Decision != periodic.Submitted {
			result = periodic.Result{}
		}
		one := tick.NewJSON(o.Last, result)
		last = &one
	}
	var run *runJSON
	if o.Run != nil {
		run = &runJSON{
			Due: o.Run.Due, Submitted: o.Run.Decided, JID: o.Run.JID, State: ui.TextOrNull(o.Result.State), Retries: o.Result.Retries,
			Started: ui.TimeOrNull(o.Result.Started), Finished: ui.TimeOrNull(o.Result.Finished), Result: ui.TextOrNull(o.Result.Message),
		}
	}
	return append(ui.ColumnsOf(t, periodic.Columns()), ui.Member{Name: "last_tick", Value: last}, ui.Member{Name: "last_run", Value: run})
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
