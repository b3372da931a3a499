package show

import (
	"strings"
	"testing"
)

func TestArgsWithSecrets(t *testing.T) {
	t.Parallel()
	m := Mask{"password", "token"}
	for args, kept := range map[string]string{
		`{"user": "ada", "password": "hunter2"}`:          "ada",
		`{"a": [{"api_token": {"b": "hunter2"}}]}`:        "api_token",
		`"dump --password=hunter2"`:                       "dump --password=",
		`["dump", "--password=hunter2", "--all"]`:         "--all",
		`["dump", "--password", "hunter2", "--all"]`:      "--all",
		`{"argv": ["curl", "-H", "X-Token: hunter2"]}`:    "curl",
		`{"url": "https://example.org/?token=hunter2"}`:   "https://example.org/?token=",
		`dump --password hunter2`:                         "not shown",
		`{"note": "pay 3:30", "list": ["--all", "true"]}`: "pay 3:30",
	} {
		if got := m.Args(args); strings.Contains(got, "hunter2") || !strings.Contains(got, kept) {
			t.Errorf("%s is shown as %s", args, got)
		}
	}
}
