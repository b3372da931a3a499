package scheduler_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// What was missed while a task was set aside says why.
func TestTicksMissedWhileSetAsideSayWhy(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('bad', 'backup', '*:*:*', 'allow'), ('good', 'backup', '*:*:*', 'allow')")
		f.once()
		f.refuse("job", "INSERT", "NEW.tracker = 'bad'", "P0001")
		cfg := f.config("aside")
		seen := watch(&cfg)
		f.start(cfg)
		seen.until(f, "sign that it is set aside", kindOf(scheduler.EventAside))
		seen.until(f, "third job of the other", nth(3, submitted("good")))
		f.unrefuse("job")
		e := seen.until(f, "missed ticks", func(e scheduler.Event) bool {
			return e.Kind == scheduler.EventTick && e.Task.ID == "bad" && e.Tick.Decision == periodic.Missed
		})
		if !strings.Contains(e.Tick.Reason, "set aside") || !strings.Contains(e.Tick.Reason, "hands off") {
			f.Errorf("missed since %q", e.Tick.Reason)
		}
	})
}
