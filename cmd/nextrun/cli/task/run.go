package task

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/reasons"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// How long `task run` waits for a scheduler to take the task, and how often it
// looks.
const (
	runPatience = 2 * time.Second
	runLook     = 50 * time.Millisecond
)

func runCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "run ID...",
		Short: "Run tasks now, in addition to their timers",
		Long: `Run tasks now: a running scheduler submits a job for each immediately, and the
timers continue as before. This command itself submits the jobs of disabled
tasks, for which it needs the configuration of their queues.`,
		Args: ui.SeveralArguments("ID"),
		RunE: func(c *cobra.Command, ids []string) error {
			return env.WithQueues(c.Context(), func(db *store.DB, queues ui.Queues) error {
				return ui.Notifying(c.Context(), env, db, func(n *ui.Notifiers) error {
					tasks := periodic.NewTasks(db.Tasks()).With(queues)
					return taskProblem(runTasks(c.Context(), env, tasks, queues, n, ids))
				})
			})
		},
	}
}

// runTasks has all tasks run, and then says what became of each.
func runTasks(ctx context.Context, env *ui.Env, tasks *periodic.Tasks, queues ui.Queues, n *ui.Notifiers, ids []string) error {
	before := map[string]periodic.Tick{}
	for _, id := range ids {
		var err error
		if before[id], err = lastTick(ctx, tasks, id); err != nil {
			return err
		}
		if err := runTask(ctx, env, tasks, queues, id); err != nil {
			return err
		}
	}
	patience, cancel := context.WithTimeout(ctx, runPatience)
	defer cancel()
	for _, id := range ids {
		tick, taken, err := nextTick(ctx, tasks, before[id], id, patience.Done())
		if err != nil {
			return err
		}
		if !taken {
			if err := notTaken(ctx, env, tasks, id); err != nil {
				return err
			}
			continue
		}
		text := string(tick.Decision)
		if tick.Reason != "" {
			text += ": " + tick.Reason
		}
		if tick.JID != "" {
			task, err := tasks.Get(ctx, id)
			if err != nil {
				return err
			}
			if !task.Enabled { // no scheduler submitted it
				n.Submitted(task.Sink)
			}
			text = string(task.Sink) + " " + tick.JID
		}
		if err := env.Printf("%s: %s\n", id, text); err != nil {
			return err
		}
	}
	return nil
}

// runTask has a task run now, and says so.
func runTask(ctx context.Context, env *ui.Env, tasks *periodic.Tasks, queues ui.Queues, id string) error {
	t, err := tasks.Get(ctx, id)
	if err != nil {
		return err
	}
	if err := tasks.RunNow(ctx, id); err != nil {
		return err
	}
	env.WarnBlocked(queues, []periodic.Task{t}) // of the problem before, which RunNow has cleared
	text := ""
	if t.Pause.At(env.Now()) {
		text = " (it is paused, and runs once all the same)"
	}
	return env.Printf("to run now: %s%s\n", id, text)
}

// notTaken says why no scheduler has submitted a task, as far as the row tells.
func notTaken(ctx context.Context, env *ui.Env, tasks *periodic.Tasks, id string) error {
	t, err := tasks.Get(ctx, id)
	if err != nil {
		return err
	}
	if _, warning := reasons.CutWarning(t.Problem); t.Problem != "" && !warning {
		env.Complain("%s: not submitted: %s", id, t.Problem)
		return nil
	}
	env.Complain("%s: no scheduler has submitted it yet; is one running?", id)
	return nil
}

// nextTick waits for a tick of a task that is not the one before, unless
// patience ends.
func nextTick(ctx context.Context, tasks *periodic.Tasks, before periodic.Tick, id string, patience <-chan struct{}) (
	tick periodic.Tick, taken bool, err error,
) {
	ticker := time.NewTicker(runLook)
	defer ticker.Stop()
	for {
		tick, err = lastTick(ctx, tasks, id)
		taken = !tick.Due.Equal(before.Due) || !tick.Decided.Equal(before.Decided)
		if err != nil || taken {
			return tick, taken, err
		}
		select {
		case <-patience:
			return tick, false, nil
		case <-ticker.C:
		}
	}
}

// lastTick is the tick of a task with the latest due; zero: there is none.
func lastTick(ctx context.Context, tasks *periodic.Tasks, id string) (periodic.Tick, error) {
	ticks, err := tasks.Ticks(ctx, periodic.TickFilter{TaskID: id, Limit: 1})
	if err != nil || len(ticks) == 0 {
		return periodic.Tick{}, err
	}
	return ticks[0], nil
}
