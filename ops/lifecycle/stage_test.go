package lifecycle

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// nobody wants to know which stages have come up.
func nobody(Stage) {}

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
			one := Stage{Name: name, Up: act("+", name, test.failUp), Down: act("-", name, test.failDown)}
			if name == "config" {
				one.Down = nil // nothing to undo
			}
			s.add(one)
		}
		check := func(what string, err error, want string) {
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %s = %v, want %q", test.name, what, err, want)
			}
		}
		check("up", s.up(t.Context(), nobody), test.up)
		check("down", s.down(t.Context()), test.down)
		check("a second down", s.down(t.Context()), "")
		if got := strings.Join(journal, " "); got != test.journal {
			t.Errorf("%s: did %s\nwant %s", test.name, got, test.journal)
		}
	}
}

func TestStagesComeUpInParts(t *testing.T) {
	var s stages
	count := 0
	once := func(context.Context) error { count++; return nil }
	for _, name := range []string{"a", "b"} {
		s.add(Stage{Name: name, Up: once})
		if err := s.up(t.Context(), nobody); err != nil {
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
	s.add(
		Stage{Name: "a", Up: func(context.Context) error { cancel(); return nil },
			Down: func(ctx context.Context) error { undone = ctx.Err() == nil; return nil }},
		Stage{Name: "b", Up: func(context.Context) error { t.Error("b came up after the end"); return nil }})
	if err := s.up(ctx, nobody); !errors.Is(err, context.Canceled) || !undone {
		t.Errorf("up = %v, undone with a context that goes on: %v; want context.Canceled and true", err, undone)
	}
}

func TestStagesReportHealth(t *testing.T) {
	sick := func(context.Context) error { return errors.New("cannot be reached") }
	bad := func(context.Context) error { return errors.New("no luck") }
	var s stages
	s.add(Stage{Name: "config"}, Stage{Name: "database", Health: sick})
	if err := s.up(t.Context(), nobody); err != nil {
		t.Fatal(err)
	}
	s.add(Stage{Name: "lock"})
	want := []StageHealth{{"config", "up", ""}, {"database", "failed", "cannot be reached"}, {"lock", "down", ""}}
	if got, _ := s.health(t.Context()); !reflect.DeepEqual(got, want) {
		t.Errorf("health = %v, want %v", got, want)
	}
	var f stages
	f.add(Stage{Name: "config"}, Stage{Name: "lock", Up: bad}, Stage{Name: "scheduler"})
	if err := f.up(t.Context(), nobody); err == nil {
		t.Fatal("up succeeded")
	}
	want = []StageHealth{{"config", "down", ""}, {"lock", "failed", "no luck"}, {"scheduler", "down", ""}}
	if got, _ := f.health(t.Context()); !reflect.DeepEqual(got, want) {
		t.Errorf("health after a failed start = %v, want %v", got, want)
	}
}
