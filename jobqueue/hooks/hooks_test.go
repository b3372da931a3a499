package hooks_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/bounds"
	"github.com/nextrun/nextrun/internal/hookbook"
	"github.com/nextrun/nextrun/jobqueue/hooks"
)

// The most specific hook decides, kind by kind.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	act := func() hooks.Action { return hooks.Func(func(context.Context, hooks.Notice) error { return nil }) }
	h := hooks.Hooks{
		All:      hooks.Set{OnFailure: act(), OnMissed: act()},
		Handlers: map[string]hooks.Set{"backup": {OnFailure: act(), OnSuccess: act()}, "quiet": {OnFailure: hooks.None}},
		Tasks: map[string]hooks.Set{
			"nightly": {OnFailure: act(), OnMissed: hooks.None},
			"silent":  {OnFailure: hooks.None, OnSuccess: hooks.None, OnMissed: hooks.None, Ping: act()},
			"again":   {OnFailure: act()},
		},
	}
	for _, test := range []struct {
		kind          hookbook.Kind
		handler, task string
		want          string
	}{
		{hookbook.OnFailure, "backup", "nightly", "tasks.nightly.on_failure"},
		{hookbook.OnFailure, "backup", "weekly", "handlers.backup.on_failure"},
		{hookbook.OnFailure, "backup", "", "handlers.backup.on_failure"},
		{hookbook.OnFailure, "other", "weekly", "on_failure"},
		{hookbook.OnFailure, "other", "", "on_failure"},
		{hookbook.OnFailure, "quiet", "weekly", ""},
		{hookbook.OnFailure, "quiet", "again", "tasks.again.on_failure"},
		{hookbook.OnFailure, "backup", "silent", ""},
		{hookbook.OnSuccess, "backup", "nightly", "handlers.backup.on_success"},
		{hookbook.OnSuccess, "other", "nightly", ""},
		{hookbook.OnSuccess, "backup", "silent", ""},
		{hookbook.OnMissed, "backup", "nightly", ""},
		{hookbook.OnMissed, "backup", "weekly", "on_missed"},
		{hookbook.OnPing, "backup", "silent", "tasks.silent.ping"},
		{hookbook.OnPing, "backup", "nightly", ""},
	} {
		found, ok := hookbook.Of(h, test.kind, test.handler, test.task)
		if ok != (test.want != "") || ok && found.Name != test.want {
			t.Errorf("%s of handler %q, task %q: %q, %t; want %q", test.kind, test.handler, test.task, found.Name, ok, test.want)
		}
	}
}

func TestHooksThatCannotBe(t *testing.T) {
	t.Parallel()
	act := hooks.Func(func(context.Context, hooks.Notice) error { return nil })
	err := hookbook.Validate(hooks.Hooks{
		All:      hooks.Set{Ping: act},
		Handlers: map[string]hooks.Set{"a": {Ping: act, OnSuccess: hooks.Submit("")}},
	})
	want := "ping: only a task has a ping\nhandlers.a.on_success: name the task to submit\nhandlers.a.ping: only a task has a ping"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Names that are odd or long get topics of their own that fit the column.
func TestTopicsOfOddNames(t *testing.T) {
	t.Parallel()
	act := hooks.Func(func(context.Context, hooks.Notice) error { return nil })
	odd := []string{"a", "a/b", "b", "ä ö", "%2F", strings.Repeat("x", 254), strings.Repeat("x", 253) + "y", strings.Repeat("/", 254)}
	seen := map[string]string{}
	for _, handler := range odd {
		book, err := hookbook.NewBook(hooks.Hooks{
			Handlers: map[string]hooks.Set{handler: {OnFailure: act}},
			Tasks:    map[string]hooks.Set{"own " + handler: {OnFailure: act}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range append(odd, "own "+handler) {
			events := book.Events(hooks.Notice{Event: hooks.Failure, Handler: handler, Task: task, Tick: &hooks.Tick{}})
			if len(events) != 1 {
				t.Fatalf("%q of %q: %d events", task, handler, len(events))
			}
			topic := events[0].Topic
			if who := handler + "\x00" + task; seen[topic] != "" && seen[topic] != who {
				t.Errorf("%q and %q share topic %s", seen[topic], who, topic)
			} else {
				seen[topic] = who
			}
			if len(topic) > 254 || !book.Has(topic) || !bounds.IsHookTopic(topic) || !hookbook.IsAbout(topic, task) || hookbook.IsAbout(topic, task+"z") {
				t.Errorf("topic %s", topic)
			}
		}
	}
}
