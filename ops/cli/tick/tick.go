package tick

import (
	"strconv"
	"strings"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/view"
)

// JSON is the JSON form of a run: the columns of periodic_run. What is not set is null.
func JSON(r *view.Run) ui.Object {
	return ui.Object{
		{"task_id", r.TaskID}, {"due", r.Due}, {"decision", r.Decision}, {"cause", ui.OrNull(string(r.Cause))}, {"reason", ui.OrNull(r.Reason)},
		{"missed", r.Missed}, {"until", ui.OrNull(r.Until)}, {"jid", ui.OrNull(r.JID)}, {"worker", ui.OrNull(r.Worker)}, {"decided", r.Decided},
		{"state", ui.OrNull(jobqueue.State(r.State).Word())}, {"submitted", ui.OrNull(r.Submitted)}, {"started", ui.OrNull(r.Started)}, {"finished", ui.OrNull(r.Finished)},
		{"attempts", ui.OrNull(r.Attempts)}, {"interrupts", ui.OrNull(r.Interrupts)}, {"result", ui.OrNull(r.Result)}, {"by_hand", ui.OrNull(r.Hand())},
	}
}

// AllJSON is the JSON form of several runs.
func AllJSON(runs []view.Run) []ui.Object {
	list := make([]ui.Object, len(runs))
	for i := range runs {
		list[i] = JSON(&runs[i])
	}
	return list
}

// Print writes the runs of many tasks, or a text if there are none.
func Print(env *ui.Env, runs []view.Run, list *ui.ListFlags, none string) error {
	t := ui.NewTable("DUE", "TASK", "OUTCOME", "JOB", "REASON").IDs("JOB").Least("JOB").Wrap().IfEmpty(none)
	return ui.PrintList(env, list, t, runs, func(r *view.Run) (any, []any) {
		return JSON(r), []any{env.Moment(r.Due), r.TaskID, Outcome(r), r.JID, why(r)}
	})
}

// PrintOfTask writes the runs of one task.
func PrintOfTask(env *ui.Env, runs []view.Run) error {
	t := ui.NewTable("DUE", "OUTCOME", "JOB", "REASON").IDs("JOB").Least("JOB").Wrap()
	for i := range runs {
		t.Add(env.Moment(runs[i].Due), Outcome(&runs[i]), runs[i].JID, why(&runs[i]))
	}
	return env.PrintTable(t, nil, false)
}

// Outcome is what became of a tick in a word: the state of its job, or the decision.
func Outcome(r *view.Run) string {
	word := jobqueue.State(r.Outcome()).Word()
	switch {
	case r.Missed < 0:
		return word + " (over 10000)"
	case r.Missed > 1:
		return word + " (" + strconv.Itoa(r.Missed) + ")"
	}
	return word
}

// why is the reason of a run, and what its job said.
func why(r *view.Run) string {
	said, reason := text.FirstLine(r.Result), r.Why()
	switch {
	case r.JID == "":
		return text.Tails(reason)
	case reason == "", strings.HasSuffix(said, reason):
		return said
	case said == "":
		return reason
	}
	return said + ": " + reason
}
