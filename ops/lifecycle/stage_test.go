package lifecycle

import (
	"context"
	"errors"
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
		p, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"config", "database", "lock", "scheduler"} {
			one := Stage{Name: name, Up: act("+", name, test.failUp), Down: act("-", name, test.failDown)}
			if name == "config" {
				one.Down = nil // nothing to undo
			}
			p.Add(one)
		}
		check := func(what string, err error, want string) {
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %s = %v, want %q", test.name, what, err, want)
			}
		}
		check("up", p.Up(t.Context()), test.up)
		check("down", p.Stop(t.Context()), test.down)
		check("a second down", p.Stop(t.Context()), "")
		if got := strings.Join(journal, " "); got != test.journal {
			t.Errorf("%s: did %s\nwant %s", test.name, got, test.journal)
		}
	}
}
