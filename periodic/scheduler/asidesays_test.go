package scheduler_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// What was missed while a task was set aside says why, and is logged once.
func TestTicksMissedWhileSetAsideSayWhy(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('bad', 'backup', '*:*:*', 'allow'), ('good', 'backup', '*:*:*', 'allow')")
		f.once()
		f.refuse("job", "INSERT", "NEW.tracker = 'bad'", "P0001")
		cfg := f.config("aside")
		seen := watch(&cfg)
		f.start(cfg)
		e := seen.until(f, "missed ticks", func(e scheduler.Event) bool {
			return e.Kind == scheduler.EventTick && e.Task.ID == "bad" && e.Tick.Decision == periodic.Missed && e.Again
		})
		if !strings.Contains(e.Tick.Reason, "set aside") || !strings.Contains(e.Tick.Reason, "hands off") {
			f.Errorf("missed since %q", e.Tick.Reason)
		}
	})
}
