package hooks_test

import (
	"context"
	"testing"

	"github.com/nextrun/nextrun/jobqueue/hooks"
)

// The most specific hook decides, kind by kind.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	act := func() *hooks.Action { return hooks.Func(func(context.Context, hooks.Notice) error { return nil }) }
	h := hooks.Hooks{
		All:      hooks.Set{hooks.OnFailure: act(), hooks.OnMissed: act()},
		Handlers: map[string]hooks.Set{"backup": {hooks.OnFailure: act(), hooks.OnSuccess: act()}, "quiet": {hooks.OnFailure: hooks.None}},
		Tasks: map[string]hooks.Set{
			"nightly": {hooks.OnFailure: act(), hooks.OnMissed: hooks.None},
			"silent":  {hooks.OnFailure: hooks.None, hooks.OnSuccess: hooks.None, hooks.OnMissed: hooks.None, hooks.OnPing: act()},
			"again":   {hooks.OnFailure: act()},
		},
	}
	for _, test := range []struct {
		kind          hooks.Kind
		handler, task string
		want          string
	}{
		{hooks.OnFailure, "backup", "nightly", "tasks.nightly.on_failure"},
		{hooks.OnFailure, "backup", "weekly", "handlers.backup.on_failure"},
		{hooks.OnFailure, "backup", "", "handlers.backup.on_failure"},
		{hooks.OnFailure, "other", "weekly", "on_failure"},
		{hooks.OnFailure, "other", "", "on_failure"},
		{hooks.OnFailure, "quiet", "weekly", ""},
		{hooks.OnFailure, "quiet", "again", "tasks.again.on_failure"},
		{hooks.OnFailure, "backup", "silent", ""},
		{hooks.OnSuccess, "backup", "nightly", "handlers.backup.on_success"},
		{hooks.OnSuccess, "other", "nightly", ""},
		{hooks.OnSuccess, "backup", "silent", ""},
		{hooks.OnMissed, "backup", "nightly", ""},
		{hooks.OnMissed, "backup", "weekly", "on_missed"},
		{hooks.OnPing, "backup", "silent", "tasks.silent.ping"},
		{hooks.OnPing, "backup", "nightly", ""},
	} {
		found, ok := h.Of(test.kind, test.handler, test.task)
		if ok != (test.want != "") || ok && found.Name != test.want {
			t.Errorf("%s of handler %q, task %q: %q, %t; want %q", test.kind, test.handler, test.task, found.Name, ok, test.want)
		}
	}
}

func TestHooksThatCannotBe(t *testing.T) {
	t.Parallel()
	act := hooks.Func(func(context.Context, hooks.Notice) error { return nil })
	err := hooks.Hooks{
		All:      hooks.Set{hooks.OnPing: act},
		Handlers: map[string]hooks.Set{"a": {hooks.OnPing: act, hooks.OnSuccess: {Submit: ""}}},
	}.Validate()
	want := "ping: only a task has a ping\nhandlers.a.on_success: name the task to submit\nhandlers.a.ping: only a task has a ping"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
