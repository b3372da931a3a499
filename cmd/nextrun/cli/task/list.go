package task

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

func listCommand(env *ui.Env) *cobra.Command {
	var filter periodic.TaskFilter
	var asJSON bool
	command := &cobra.Command{
		Use:   "list",
		Short: "List tasks",
		Args:  ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return withTasks(c.Context(), env, func(tasks *periodic.Tasks) error {
				list, err := tasks.List(c.Context(), filter)
				if err != nil {
					return err
				}
				return printTasks(env, list, asJSON)
			})
		},
	}
	flags := command.Flags()
	flags.StringVar(&filter.Task, "task", "", "only those of this task `name`")
	flags.StringVar(&filter.Group, "group", "", "only those of this group")
	flags.BoolVar(&filter.Problem, "problem", false, "only those with a problem")
	flags.IntVarP(&filter.Limit, "limit", "n", 0, "maximum number (default all)")
	ui.JSONFlag(command, &asJSON)
	return command
}

func printTasks(env *ui.Env, list []periodic.Task, asJSON bool) error {
	lines := []taskJSON{}
	t := ui.NewTable("ID", "TASK", "TIMER", "NEXT RUN", "LEFT", "PROBLEM")
	for i := range list {
		task := &list[i]
		lines = append(lines, newTaskJSON(task))
		next, left := plan(env, task)
		t.Add(task.ID, task.Task, task.Timer, next, left, task.Problem)
	}
	return env.PrintTable(t, lines, asJSON)
}

// plan says when a task is submitted next, and how far away that is.
func plan(env *ui.Env, t *periodic.Task) (next, left string) {
	switch {
	case !t.Enabled:
		return "disabled", ""
	case !t.NextRun.Before(periodic.Never):
		return "never", ""
	case t.Due.IsZero() && !t.NextRun.After(periodic.Unplanned):
		return "not planned yet", ""
	}
	return env.Moment(t.NextRun), env.Ago(t.NextRun)
}

// taskJSON is the JSON form of a task: its columns, durations in seconds.
type taskJSON struct {
	ID        string     `json:"id"`
	Enabled   bool       `json:"enabled"`
	Task      string     `json:"task"`
	Group     string     `json:"group"`
	Args      *string    `json:"args,omitempty"` // in lists absent
	Subject   string     `json:"subject"`
	Submitter string     `json:"submitter"`
	Priority  int        `json:"priority"`
	Worker    string     `json:"worker,omitempty"`
	Marked    *time.Time `json:"marked,omitempty"`
	Timer     string     `json:"timer"`
	NextRun   time.Time  `json:"nextrun"`
	Created   time.Time  `json:"created"`
	Summary   string     `json:"summary,omitempty"`
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

	Problem string `json:"problem,omitempty"`
}

func newTaskJSON(t *periodic.Task) taskJSON {
	j := taskJSON{
		ID: t.ID, Enabled: t.Enabled, Task: t.Task, Group: t.Group, Subject: t.Subject, Submitter: t.Submitter,
		Priority: t.Priority, Worker: t.Worker, Marked: ui.TimeOrNull(t.Marked), Timer: t.Timer, NextRun: t.NextRun,
		Created: t.Created, Summary: t.Summary, Due: ui.TimeOrNull(t.Due), Starts: ui.TimeOrNull(t.Starts),
		Ends: ui.TimeOrNull(t.Ends), Overlap: string(t.Overlap), Catchup: string(t.Catchup),
		Grace: int64(t.Grace / time.Second), Jitter: int64(t.Jitter / time.Second), Sink: string(t.Sink), Problem: t.Problem,
		RetryLimit: t.RetryLimit, RetryDelay: ui.SecondsOrNull(t.RetryDelay), Timeout: ui.SecondsOrNull(t.Timeout),
		Concurrency: ui.NumberOrNull(t.Concurrency),
	}
	if t.Deadline != nil {
		seconds := int64(*t.Deadline / time.Second)
		j.Deadline = &seconds
	}
	return j
}
