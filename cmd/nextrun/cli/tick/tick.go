package tick

import (
	"strconv"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

// tickJSON is the JSON form of a tick: its columns.
type tickJSON struct {
	TaskID   string     `json:"task_id"`
	Due      time.Time  `json:"due"`
	Decision string     `json:"decision"`
	Reason   string     `json:"reason,omitempty"`
	Missed   int        `json:"missed,omitempty"`
	Until    *time.Time `json:"until,omitempty"`
	JID      string     `json:"jid,omitempty"`
	Worker   string     `json:"worker,omitempty"`
	Decided  time.Time  `json:"decided"`
}

// Print writes what became of ticks.
func Print(env *ui.Env, list []periodic.Tick, asJSON bool) error {
	lines := []tickJSON{}
	t := ui.NewTable("DUE", "TASK ID", "DECISION", "REASON OR JOB")
	for _, k := range list {
		lines = append(lines, tickJSON{
			TaskID: k.TaskID, Due: k.Due, Decision: string(k.Decision), Reason: k.Reason, Missed: k.Missed,
			Until: ui.TimeOrNull(k.Until), JID: k.JID, Worker: k.Worker, Decided: k.Decided,
		})
		t.Add(env.Moment(k.Due), k.TaskID, tickDecision(k), tickReason(k))
	}
	return env.PrintTable(t, lines, asJSON)
}

func tickDecision(k periodic.Tick) string {
	switch {
	case k.Missed < 0:
		return string(k.Decision) + " (over 10000)"
	case k.Missed > 1:
		return string(k.Decision) + " (" + strconv.Itoa(k.Missed) + ")"
	}
	return string(k.Decision)
}

func tickReason(k periodic.Tick) string {
	switch {
	case k.JID != "" && k.Reason != "":
		return "job " + k.JID + ": " + k.Reason
	case k.JID != "":
		return "job " + k.JID
	}
	return k.Reason
}
