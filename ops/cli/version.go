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

func init() { service.Program = builtFrom().short() } // what processes tell others about themselves

func versionCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version and the commit that it was built from",
		Args:  ui.Arguments(),
		RunE:  func(*cobra.Command, []string) error { return env.Printf("nextrun version %s\n", builtFrom()) },
	}
}

// build is what a program was built from.
type build struct{ version, commit string } // commit is empty if it is not known

// String is the version, the commit, and the platform.
func (b build) String() string {
	commit := "unknown commit"
	if b.commit != "" {
		commit = "commit " + b.commit
	}
	return fmt.Sprintf("%s, %s, %s %s/%s", b.version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// short is the version, of one that has no number with its commit.
func (b build) short() string {
	if b.commit == "" || b.version != "(devel)" {
		return b.version
	}
	return b.version + ", commit " + b.commit
}

// builtFrom asks the linker and the go command, which knows the commit unless
// -buildvcs=false forbids it to look.
func builtFrom() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(info, version, commit)
}

func buildOf(info *debug.BuildInfo, version, commit string) build {
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && commit == "" {
			commit = s.Value[:min(len(s.Value), 12)]
		}
	}
	return build{cmp.Or(version, info.Main.Version, "unknown"), commit}
}
