package task

import (
	"github.com/nextrun/nextrun/ops/cli/tick"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

// json is the JSON form of a task: its columns, what became of it last, and since when it fails.
func (r results) json(t *periodic.Task) ui.Object {
	o, failing := r.outcomes[t.ID], r.failing[t.ID]
	var last, run any // null: there was none
	if !o.Last.Due.IsZero() {
		result := o.Result
		if o.Last.Decision != periodic.Submitted {
			result = periodic.Result{}
		}
		last = tick.JSON(&o.Last, result)
	}
	if o.Run != nil {
		run = ui.Object{
			{"due", o.Run.Due}, {"submitted", o.Run.Decided}, {"jid", o.Run.JID}, {"state", ui.OrNull(o.Result.State)}, {"retries", o.Result.Retries},
			{"started", ui.OrNull(o.Result.Started)}, {"finished", ui.OrNull(o.Result.Finished)}, {"result", ui.OrNull(o.Result.Message)},
		}
	}
	return append(ui.ColumnsOf(t, periodic.Columns()), [2]any{"last_tick", last}, [2]any{"last_run", run}, [2]any{"failing_since", ui.OrNull(failing.Since)}, [2]any{"last_success", ui.OrNull(failing.Success)})
}
