package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
)

func manCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write manual pages of all commands into a directory",
		Example: `  nextrun man /usr/local/share/man/man1
  nextrun man . && man -l nextrun-task-add.1`,
		Args: ui.Arguments("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			n, err := writeManuals(c.Root(), args[0])
			if err != nil {
				return err
			}
			return env.Printf("wrote %d manual pages to %s; the first one is nextrun.1\n", n, args[0])
		},
	}
}

// writeManuals writes a page for each command, and says how many.
func writeManuals(root *cobra.Command, dir string) (int, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // manual pages are for everybody
		return 0, err
	}
	root.InitDefaultCompletionCmd()
	root.DisableAutoGenTag = true // which names the library
	header := &doc.GenManHeader{Section: "1", Source: "nextrun " + builtFrom().version, Manual: "nextrun"}
	if date := builtFrom().date; !date.IsZero() {
		header.Date = &date // the same source gives the same pages
	}
	if err := doc.GenManTree(root, header, dir); err != nil {
		return 0, fmt.Errorf("write manual pages: %w", err)
	}
	return countManuals(root), nil
}

func countManuals(command *cobra.Command) int {
	n := 1
	for _, c := range command.Commands() {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			n += countManuals(c)
		}
	}
	return n
}
