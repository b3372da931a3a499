package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/config"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func (p *program) taskApplyCommand() *cobra.Command {
	var path string
	var apply periodic.Apply
	prune := choice{allowed: []string{string(periodic.PruneDisable), string(periodic.PruneDelete)}}
	command := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Make the table match a file of tasks",
		Long: `Make the table match a file of tasks, such as task export writes: all of it or
nothing. A row whose timer and bounds stay keeps its plan. With --prune, tasks that
the file does not name are disabled or deleted, but for nextrun's own.`,
		Example: `  nextrun task apply -f tasks.yaml --dry-run
  nextrun task apply -f tasks.yaml --prune disable --group reports`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if path == "" {
				return usagef("missing -f FILE; - is standard input")
			}
			text, err := p.readFile(path)
			if err != nil {
				return err
			}
			if apply.Tasks, err = config.ParseTasks(path, text); err != nil {
				return err
			}
			apply.Prune = periodic.Prune(prune.value)
			return p.apply(c.Context(), apply)
		},
	}
	flags := command.Flags()
	flags.StringVarP(&path, "file", "f", "", "the `file`; - is standard input")
	flags.Var(&prune, "prune", "what to do with tasks that the file does not name (default nothing)")
	flags.StringVar(&apply.Group, "group", "", "prune only tasks of that group")
	flags.BoolVar(&apply.DryRun, "dry-run", false, "show the difference and change nothing")
	return command
}

// readFile reads a file; - is standard input.
func (p *program) readFile(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(p.stdin)
	}
	return os.ReadFile(path)
}

// apply makes the table match, and says what it changed.
func (p *program) apply(ctx context.Context, apply periodic.Apply) error {
	apply.Keep = func(t *periodic.Task) bool { return t.Task == store.HousekeepingTask }
	return p.withDatabase(ctx, func(db *store.DB) error {
		changes, err := periodic.NewTasks(db.Tasks()).Apply(ctx, apply)
		if err != nil {
			return fmt.Errorf("nothing was changed: %w", err)
		}
		for _, c := range changes {
			if err := p.printf("%-8s %s%s\n", c.Action, cell(c.ID), columnChanges(c)); err != nil {
				return err
			}
		}
		verb := "changed"
		if apply.DryRun {
			verb = "to change"
		}
		return p.printf("%s: %d of %d tasks in the file\n", verb, len(changes), len(apply.Tasks))
	})
}

// columnChanges writes the columns that change.
func columnChanges(c periodic.TaskChange) string {
	var b strings.Builder
	for i, column := range c.Columns {
		separator := ", "
		if i == 0 {
			separator = "  "
		}
		fmt.Fprintf(&b, "%s%s: %q -> %q", separator, column.Column, shorten(column.From), shorten(column.To))
	}
	return b.String()
}
