package periodic_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/periodic"
)

// What was missed while a task was set aside says why, and is logged once.
func TestTicksMissedWhileSetAsideSayWhy(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('bad', 'backup', '*:*:*', 'allow')")
		f.once()
		f.refuse("job", "INSERT", "NEW.tracker = 'bad'", "P0001")
		cfg := f.config("aside")
		seen := watch(&cfg)
		f.start(cfg)
		e := seen.until(f, "missed ticks", func(e periodic.Event) bool { return e.Kind == periodic.EventTick && e.Tick.Decision == periodic.Missed })
		if !strings.Contains(e.Tick.Reason, "set aside") || !strings.Contains(e.Tick.Reason, "hands off") || !e.Again {
			f.Errorf("missed since %q; said again: %t", e.Tick.Reason, e.Again)
		}
		first := seen.until(f, "tick", kindOf(periodic.EventTick))
		if first.Again {
			f.Errorf("the first tick is not the first: %+v", first.Tick)
		}
	})
}
