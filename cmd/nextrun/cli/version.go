package cli

import (
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
)

func versionCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version of this program",
		Args:  ui.Arguments(),
		RunE:  func(*cobra.Command, []string) error { return env.Printf("nextrun version %s\n", version()) },
	}
}

// version is the module's version, or the commit that the program was built of.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version
}
