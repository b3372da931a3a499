package cli

import (
	"runtime/debug"
	"strings"
	"testing"
)

// The version names the commit, whoever knows it, or says that nobody does.
func TestVersionNamesTheCommit(t *testing.T) {
	t.Parallel()
	info := &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}
	vcs := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123"},
	}}
	for want, b := range map[string]build{
		"(devel), unknown commit, go1.":     buildOf(info, "", ""),
		"(devel), commit abc1234, go1.":     buildOf(info, "", "abc1234"),
		"v1.2.3, commit 0123456789ab, go1.": buildOf(vcs, "", ""),
		"v1.2.3, commit abc1234, go1.":      buildOf(vcs, "", "abc1234"),
		"v1.3.0, commit abc1234, go1.":      buildOf(vcs, "v1.3.0", "abc1234"),
		"unknown, unknown commit, go1.":     buildOf(&debug.BuildInfo{}, "", ""),
	} {
		if got := b.String(); !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
