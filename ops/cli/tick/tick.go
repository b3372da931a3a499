package tick

import (
	"context"
	"strconv"
	"strings"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/reasons"
)

// JSON is the JSON form of a tick: its columns, and the state of its job or event.
// What is not set is null.
func JSON(k *periodic.Tick, result periodic.Result) ui.Object {
	return ui.Object{
		{"task_id", k.TaskID}, {"due", k.Due}, {"decision", k.Decision}, {"state", ui.OrNull(result.State)}, {"reason", ui.OrNull(k.Reason)},
		{"missed", k.Missed}, {"until", ui.OrNull(k.Until)}, {"jid", ui.OrNull(k.JID)}, {"worker", ui.OrNull(k.Worker)}, {"decided", k.Decided},
		{"outcome", ui.OrNull(string(k.Ended))}, {"finished", ui.OrNull(k.Finished)}, {"attempts", ui.OrNull(k.Attempts)}, {"error", ui.OrNull(k.Error)},
		{"by_hand", ui.OrNull(reasons.Hand(k.Reason))},
	}
}

// Ticks are ticks with what became of their jobs and events.
type Ticks struct {
	List    []periodic.Tick
	Results map[string]periodic.Result // by the tick's JID
}

// Read reads ticks, the latest first.
func Read(ctx context.Context, tasks *periodic.Tasks, filter periodic.TickFilter) (Ticks, error) {
	list, err := tasks.Ticks(ctx, filter)
	if err != nil {
		return Ticks{}, err
	}
	results, err := tasks.Results(ctx, list)
	return Ticks{list, results}, err
}

// JSON is the JSON form of the ticks.
func (k Ticks) JSON() []ui.Object {
	lines := make([]ui.Object, len(k.List))
	for i := range k.List {
		lines[i] = JSON(&k.List[i], k.Results[k.List[i].JID])
	}
	return lines
}

// Print writes the ticks of many tasks, or a text if there are none.
func (k Ticks) Print(env *ui.Env, list *ui.ListFlags, none string) error {
	t := ui.NewTable("DUE", "TASK", "OUTCOME", "REASON OR JOB").Wrap().IfEmpty(none)
	return ui.PrintList(env, list, t, k.List, func(one *periodic.Tick) (any, []any) {
		result := k.Results[one.JID]
		return JSON(one, result), []any{env.Moment(one.Due), one.TaskID, Outcome(*one, result), k.why(*one)}
	})
}

// PrintOfTask writes the ticks of one task.
func (k Ticks) PrintOfTask(env *ui.Env) error {
	t := ui.NewTable("DUE", "OUTCOME", "REASON OR JOB").Wrap()
	for _, one := range k.List {
		t.Add(env.Moment(one.Due), Outcome(one, k.Results[one.JID]), k.why(one))
	}
	return env.PrintTable(t, nil, false)
}

// Outcome is what became of a tick in a word: the state of its job, or the decision.
func Outcome(k periodic.Tick, result periodic.Result) string {
	switch {
	case k.Decision == periodic.Submitted && result.State != "":
		return jobqueue.State(result.State).Word()
	case k.Missed < 0:
		return string(k.Decision) + " (over 10000)"
	case k.Missed > 1:
		return string(k.Decision) + " (" + strconv.Itoa(k.Missed) + ")"
	}
	return string(k.Decision)
}

// why is the reason of a tick, or where its job or event is. Of a queue that is not
// nextrun's own, or when both are gone, it is the id alone.
func (k Ticks) why(one periodic.Tick) string {
	if one.JID == "" {
		return text.Tails(one.Reason)
	}
	said := one.JID
	result := k.Results[one.JID]
	if result.Sink != "" {
		said = string(result.Sink) + " " + one.JID
	}
	for _, more := range []string{text.FirstLine(result.Message), one.Reason, reasons.Hand(one.Reason)} {
		if more != "" && !strings.HasSuffix(said, more) {
			said += ": " + more
		}
	}
	return said
}
