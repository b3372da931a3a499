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
	for want, is := range map[string]func() (version, commit string){
		"(devel) ":            func() (string, string) { return builtFrom(info, "", "") },
		"(devel) abc1234":     func() (string, string) { return builtFrom(info, "", "abc1234") },
		"v1.2.3 0123456789ab": func() (string, string) { return builtFrom(vcs, "", "") },
		"v1.2.3 abc1234":      func() (string, string) { return builtFrom(vcs, "", "abc1234") },
		"v1.3.0 abc1234":      func() (string, string) { return builtFrom(vcs, "v1.3.0", "abc1234") },
		"unknown ":            func() (string, string) { return builtFrom(&debug.BuildInfo{}, "", "") },
	} {
		if version, commit := is(); version+" "+commit != want {
			t.Errorf("got %q, want %q", version+" "+commit, want)
		}
	}
	if text := versionText(); !strings.Contains(text, ", commit ") || !strings.Contains(text, ", go1.") {
		t.Errorf("got %q", text)
	}
}
