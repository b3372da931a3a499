package service

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// TestStages brings up five stages of which some fail, and takes them down.
func TestStages(t *testing.T) {
	for _, test := range []struct {
		name, failUp, failDown string
		journal                string // what is done, in order: +up -down
		up, down               string // part of the error; empty: none
	}{
		{"all well", "", "", "+config +database +lock +scheduler -scheduler -lock -database", "", ""},
		{"the first fails", "config", "", "+config", "start failed at config: no luck", ""},
		{"one fails", "scheduler", "", "+config +database +lock +scheduler -lock -database", "start failed at scheduler: no luck", ""},
		{"its undo fails too", "scheduler", "lock", "+config +database +lock +scheduler -lock -database", "stop failed at lock: no luck", ""},
		{"the stop fails", "", "scheduler", "+config +database +lock +scheduler -scheduler -lock -database", "", "stop failed at scheduler: no luck"},
	} {
		var journal []string
		act := func(sign, name, fails string) func(context.Context) error {
			return func(context.Context) error {
				journal = append(journal, sign+name)
				if name == fails {
					return errors.New("no luck")
				}
				return nil
			}
		}
		var s stages
		for _, name := range []string{"config", "database", "lock", "scheduler"} {
			one := stage{name: name, up: act("+", name, test.failUp), down: act("-", name, test.failDown)}
			if name == "config" {
				one.down = nil // nothing to undo
			}
			if err := s.add(one); err != nil {
				t.Fatal(err)
			}
		}
		check := func(what string, err error, want string) {
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %s = %v, want %q", test.name, what, err, want)
			}
		}
		check("up", s.up(t.Context()), test.up)
		check("down", s.down(t.Context()), test.down)
		check("a second down", s.down(t.Context()), "")
		if got := strings.Join(journal, " "); got != test.journal {
			t.Errorf("%s: did %s\nwant %s", test.name, got, test.journal)
		}
	}
}

func TestStagesKnowWhatTheyNeed(t *testing.T) {
	var s stages
	if err := s.add(stage{name: "lock", needs: []string{"database"}}); err == nil {
		t.Error("a stage was added before the one that it needs")
	}
	if err := s.add(stage{name: "database"}, stage{name: "lock", needs: []string{"database"}}); err != nil {
		t.Error(err)
	}
	if err := s.add(stage{name: "lock"}); err == nil {
		t.Error("a stage was added twice")
	}
}

func TestStagesComeUpInParts(t *testing.T) {
	var s stages
	count := 0
	once := func(context.Context) error { count++; return nil }
	for _, name := range []string{"a", "b"} {
		if err := errors.Join(s.add(stage{name: name, up: once}), s.up(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	if count != 2 {
		t.Errorf("%d stages came up, want each once", count)
	}
}

func TestStagesEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var s stages
	undone := false
	err := s.add(
		stage{name: "a", up: func(context.Context) error { cancel(); return nil },
			down: func(ctx context.Context) error { undone = ctx.Err() == nil; return nil }},
		stage{name: "b", up: func(context.Context) error { t.Error("b came up after the end"); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.up(ctx); !errors.Is(err, context.Canceled) || !undone {
		t.Errorf("up = %v, undone with a context that goes on: %v; want context.Canceled and true", err, undone)
	}
}

func TestStagesReportHealth(t *testing.T) {
	sick := func(context.Context) error { return errors.New("cannot be reached") }
	bad := func(context.Context) error { return errors.New("no luck") }
	var s stages
	if err := s.add(stage{name: "config"}, stage{name: "database", health: sick}); err != nil {
		t.Fatal(err)
	}
	if err := s.up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.add(stage{name: "lock"}); err != nil {
		t.Fatal(err)
	}
	want := []stageHealth{{"config", "up", ""}, {"database", "failed", "cannot be reached"}, {"lock", "down", ""}}
	if got := s.health(t.Context()); !reflect.DeepEqual(got, want) {
		t.Errorf("health = %v, want %v", got, want)
	}
	var f stages
	if err := f.add(stage{name: "config"}, stage{name: "lock", up: bad}, stage{name: "scheduler"}); err != nil {
		t.Fatal(err)
	}
	if err := f.up(t.Context()); err == nil {
		t.Fatal("up succeeded")
	}
	want = []stageHealth{{"config", "down", ""}, {"lock", "failed", "no luck"}, {"scheduler", "down", ""}}
	if got := f.health(t.Context()); !reflect.DeepEqual(got, want) {
		t.Errorf("health after a failed start = %v, want %v", got, want)
	}
}
