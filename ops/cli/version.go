package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// The version and the commit, where the linker sets them with -X, as the Makefile does: a build
// with -buildvcs=false has no other way to know.
var version, commit string

func init() {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	version, commit = builtFrom(info, version, commit)
	if service.Program = version; version == "(devel)" && commit != "" { // what processes tell others about themselves
		service.Program += ", commit " + commit
	}
}

// builtFrom is the version and the commit that the linker or the go command knows, which knows the commit unless
// -buildvcs=false forbids it to look. The commit is empty if it is not known.
func builtFrom(info *debug.BuildInfo, version, commit string) (string, string) {
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && commit == "" {
			commit = s.Value[:min(len(s.Value), 12)]
		}
	}
	return cmp.Or(version, info.Main.Version, "unknown"), commit
}

// versionText is the version, the commit, and the platform.
func versionText() string {
	return fmt.Sprintf("%s, commit %s, %s %s/%s", version, cmp.Or(commit, "unknown"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func versionCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version and the commit that it was built from",
		Args:  ui.Arguments(),
		RunE:  func(*cobra.Command, []string) error { return env.Printf("nextrun version %s\n", versionText()) },
	}
}
