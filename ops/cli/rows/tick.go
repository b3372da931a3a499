package rows

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// TickCommand returns `nextrun tick` with its command.
func TickCommand(env *ui.Env) *cobra.Command {
	return ui.Group(&cobra.Command{Use: "tick", Short: "Show what happened at each tick"}, listTicks(env))
}

func listTicks(env *ui.Env) *cobra.Command {
	filter := periodic.TickFilter{Limit: periodic.DefaultTickLimit}
	decision := ui.Choice{Allowed: []string{
		string(periodic.Submitted), string(periodic.Skipped), string(periodic.Late), string(periodic.Missed), periodic.NotRun,
	}}
	list := &List[view.Run]{
		Use:   "list",
		Short: "List ticks and what was decided about them, latest first",
		Long: `List ticks and what was decided about them, latest first. The decision not-run stands
for skipped, late and missed.`,
		Example: `  nextrun tick list --task nightly-backup --since 7d
  nextrun tick list --decision not-run --since yesterday`,
		Of:   &Period{What: "ticks due", Since: &filter.DueFrom, Until: &filter.DueTo, Limit: &filter.Limit},
		Task: &filter.TaskID, Group: &filter.Group,
		None:  "none; ticks are recorded when a scheduler decides them: nextrun serve",
		Table: ui.NewTable("DUE", "TASK", "OUTCOME", "JOB", "REASON").IDs("JOB").Least("JOB").Wrap(),
		Row: func(r *view.Run) (any, []any) {
			return RunJSON(r), []any{env.Moment(r.Due), r.TaskID, Outcome(r), r.JID, reason(r)}
		},
		Read: func(ctx context.Context, db *store.DB) ([]view.Run, error) {
			filter.Decision = periodic.Decision(decision.Value)
			return view.Of(db).List(ctx, periodic.NewTasks(db.Tasks()), filter)
		},
	}
	command := list.Command(env)
	flags := command.Flags()
	flags.StringVar(&filter.TaskID, "task", "", "only those of the task with this `id`")
	flags.StringVar(&filter.Group, "group", "", "only those of tasks of this group")
	flags.Var(&decision, "decision", "only ticks with this `decision`: "+strings.Join(decision.Allowed, ", "))
	return command
}

// RunJSON is the JSON form of a run: the columns of periodic_run, and who asked for it. What is not set is null.
func RunJSON(r *view.Run) ui.Object {
	return append(ui.ColumnsOf(r, view.RunColumns()), [2]any{"by_hand", ui.OrNull(r.Hand())})
}

// PrintRuns writes the runs of one task.
func PrintRuns(env *ui.Env, runs []view.Run) error {
	t := ui.NewTable("DUE", "OUTCOME", "JOB", "REASON").IDs("JOB").Least("JOB").Wrap()
	for i := range runs {
		t.Add(env.Moment(runs[i].Due), Outcome(&runs[i]), runs[i].JID, reason(&runs[i]))
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

// reason is why a run was decided so, and what its job said.
func reason(r *view.Run) string {
	said, reason := text.FirstLine(r.Result), r.Why()
	switch {
	case r.JID == "":
		return text.Tails(reason)
	case reason == "", strings.HasSuffix(said, reason):
		return said
	case said == "":
		return reason
	}
	return reason + "; " + said
}
