package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// The version, the commit and its time, where the linker sets them with -X, as the
// Makefile does: a build with -buildvcs=false has no other way to know.
var version, commit, committed string

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
type build struct {
	version string
	commit  string // empty: not known
	date    time.Time
}

// String is the version, the commit with its day, and the platform.
func (b build) String() string {
	commit := "unknown commit"
	if b.commit != "" {
		commit = "commit " + b.commit
	}
	if !b.date.IsZero() {
		commit += " of " + b.date.UTC().Format(time.DateOnly)
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
	return buildOf(info, version, commit, committed)
}

func buildOf(info *debug.BuildInfo, version, commit, committed string) build {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	b := build{version: cmp.Or(version, info.Main.Version, "unknown")}
	if b.commit = commit; commit == "" {
		revision := settings["vcs.revision"]
		b.commit, committed = revision[:min(len(revision), 12)], settings["vcs.time"]
		if settings["vcs.modified"] == "true" {
			b.commit += " with changes"
		}
	}
	if t, err := time.Parse(time.RFC3339, committed); err == nil {
		b.date = t
	}
	return b
}
