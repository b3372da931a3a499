package why

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Command returns `nextrun why`.
func Command(env *ui.Env) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "why ID",
		Short: "Explain a task: did it work, and if not, why?",
		Long: `Explain a task in one screen: when it runs next and why not sooner, what became
of its last ticks and jobs, the end of the output of its last failure, and what
to do. The beginning of an ID is enough if no other task's begins so.`,
		Example: "  nextrun why nightly-backup",
		Args:    ui.Arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return env.WithQueues(c.Context(), func(db *store.DB, queues ui.Queues) error {
				id, err := find(c.Context(), db, args[0])
				if err != nil {
					return err
				}
				f, err := gather(c.Context(), db, queues, id)
				if err != nil {
					return err
				}
				if asJSON {
					return env.PrintJSON(newReportJSON(f, diagnose(f)))
				}
				return report(env, f, diagnose(f))
			})
		},
	}
	ui.JSONFlag(command, &asJSON)
	return command
}

// find returns the id of the task that a text means: an id, or the beginning of
// just one.
func find(ctx context.Context, db *store.DB, text string) (string, error) {
	tasks := periodic.NewTasks(db.Tasks())
	_, err := tasks.Get(ctx, text)
	if err == nil || !errors.Is(err, store.ErrNotFound) {
		return text, err
	}
	list, listErr := tasks.List(ctx, periodic.TaskFilter{})
	if listErr != nil {
		return "", listErr
	}
	var begin, contain []string
	for _, t := range list {
		switch {
		case text != "" && strings.HasPrefix(t.ID, text):
			begin = append(begin, t.ID)
		case text != "" && (strings.Contains(strings.ToLower(t.ID), strings.ToLower(text)) || t.Task == text):
			contain = append(contain, t.ID)
		}
	}
	switch {
	case len(begin) == 1:
		return begin[0], nil
	case len(begin) > 1:
		return "", fmt.Errorf("task %q: several ids begin so: %s", text, some(begin))
	case len(contain) > 0:
		return "", fmt.Errorf("task %q: not found; did you mean %s?", text, some(contain))
	}
	return "", fmt.Errorf("%w; see: nextrun task list", err)
}

// some names a few ids.
func some(ids []string) string {
	const most = 5
	if len(ids) > most {
		return strings.Join(ids[:most], ", ") + " or another"
	}
	if len(ids) == 1 {
		return ids[0]
	}
	return strings.Join(ids[:len(ids)-1], ", ") + " or " + ids[len(ids)-1]
}
