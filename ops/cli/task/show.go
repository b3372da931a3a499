package task

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/ops/cli/find"
	"github.com/nextrun/nextrun/ops/cli/tick"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/diagnosis"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// shownTicks is how many ticks `task show` shows.
const shownTicks = 5

func showCommand(env *ui.Env) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "show ID",
		Short: "Show a task: its last runs and their results, its next runs, its columns",
		Long: `Show a task: its last runs and their results, its next runs, and its columns
without those that have their default; --json has all. The beginning of an ID is
enough if no other task's begins so.`,
		Args: ui.Arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return env.WithDatabase(c.Context(), func(db *store.DB) error {
				s, err := readShown(c.Context(), db, args[0])
				if err != nil {
					return taskProblem(err)
				}
				if asJSON {
					return s.printJSON(env)
				}
				return s.print(env)
			})
		},
	}
	ui.JSONFlag(command, &asJSON)
	return command
}

// shown is what `task show` shows.
type shown struct {
	task    periodic.Task
	results results
	outcome periodic.Outcome
	ticks   tick.Ticks
}

func readShown(ctx context.Context, db *store.DB, text string) (s shown, err error) {
	tasks := periodic.NewTasks(db.Tasks())
	id, err := find.Task(ctx, tasks, text)
	if err != nil {
		return s, err
	}
	if s.task, err = tasks.Get(ctx, id); err != nil {
		return s, err
	}
	if s.results, err = readResults(ctx, db, periodic.TaskFilter{ID: id}, []periodic.Task{s.task}); err != nil {
		return s, err
	}
	s.outcome = s.results.outcomes[id]
	s.ticks, err = tick.Read(ctx, tasks, periodic.TickFilter{TaskID: id, Limit: shownTicks})
	return s, err
}

func (s shown) printJSON(env *ui.Env) error {
	times := []time.Time{}
	if s.elapses(env) {
		upcoming, err := nextRuns(env, &s.task)
		if err != nil {
			return err
		}
		times, _ = leftOut(upcoming)
	}
	return env.PrintJSON(append(s.results.json(&s.task),
		[2]any{"upcoming", times}, [2]any{"skips", s.task.SkipsToCome(env.Now())}, [2]any{"ticks", s.ticks.JSON()}))
}

// elapses reports whether there will be more ticks.
func (s shown) elapses(env *ui.Env) bool {
	p := s.task.Pause
	return s.task.Enabled && s.task.NextRun.Before(periodic.Never) && (!p.At(env.Now()) || !p.Until.IsZero())
}

func (s shown) print(env *ui.Env) error {
	if err := env.PrintFields(append(s.state(env), columns(env, &s.task)...)); err != nil {
		return err
	}
	if s.elapses(env) {
		if err := printUpcoming(env, &s.task); err != nil {
			return err
		}
	}
	for _, skip := range s.task.SkipsToCome(env.Now()) {
		if err := env.Printf("tick of %s: %s\n", env.Moment(skip.Due), ui.Cell(skip.Text())); err != nil {
			return err
		}
	}
	if len(s.ticks.List) == 0 {
		return nil
	}
	if err := env.Printf("\n"); err != nil {
		return err
	}
	return s.ticks.PrintOfTask(env)
}

// state is what became of the task, and what comes next.
func (s shown) state(env *ui.Env) [][2]string {
	t := &s.task
	next, at := plan(env, t)
	switch {
	case next == "paused" && at != "":
		next += " " + at
	case at != "":
		next = at + ", " + next
	}
	due := ""
	if !t.Due.IsZero() && t.Due.Before(periodic.Never) && !t.Due.Equal(t.NextRun) {
		due = env.Moment(t.Due)
	}
	paused := ""
	if t.Pause.At(env.Now()) {
		paused = strings.TrimPrefix(t.Pause.Text(), "paused ")
	}
	failed := ""
	if streak := s.results.failing[t.ID]; streak.Failed > 0 {
		failed = strings.TrimPrefix(diagnosis.InARow("", streak.Failed, streak, env.Moment), " ")
		if failed == "" {
			failed = fmt.Sprintf("%d in a row", streak.Failed)
		}
	}
	return [][2]string{
		{"id", t.ID}, {"state", stateOf(env, t, s.outcome)}, {"problem", t.Problem}, {"paused", paused}, {"failures", failed}, {"last run", lastRunText(env, s.outcome)},
		{"last tick", notRun(env, s.outcome)}, {"next run", next}, {"due", due},
		{"timer", t.Timer}, {"handler", t.Task}, {"summary", t.Summary},
	}
}

// stateOf is the state of a task in a word or two.
func stateOf(env *ui.Env, t *periodic.Task, o periodic.Outcome) string {
	switch {
	case !t.Enabled:
		return "disabled"
	case t.Blocked() != "":
		return "blocked"
	case t.Pause.At(env.Now()):
		return "paused"
	case o.Last.Due.IsZero():
		return "not run yet"
	}
	return resultOf(o)
}

// markedBy names the scheduler that has marked a task.
func markedBy(env *ui.Env, t *periodic.Task) string {
	if t.Worker != "" && t.NextRun.After(env.Now()) && !t.Pause.At(t.NextRun) {
		return t.Worker + ", which submits the next tick when it is due"
	}
	return t.Worker
}

// columns are the columns of a task that have not their defaults, but those that
// [shown.state] has.
func columns(env *ui.Env, t *periodic.Task) (fields [][2]string) {
	standard := periodic.NewTask("", "", "")
	for _, c := range column.OfUsers(periodic.Columns()) {
		if v := c.Get(t); v != c.Get(&standard) && !slices.Contains([]string{"id", "task", "timer", "summary", "enabled"}, c.Name) {
			fields = append(fields, [2]string{strings.ReplaceAll(c.Name, "_", " "), env.Value(v)})
		}
	}
	return append(fields, [][2]string{{"declared by", t.Origin}, {"marked by", markedBy(env, t)}, {"created", env.Moment(t.Created)}}...)
}
