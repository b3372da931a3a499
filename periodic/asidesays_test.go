package periodic_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// An edit deep in long args, which keeps their length, brings back a task that was
// set aside.
func TestTaskSetAsideComesBackWithAnEditOfLongArgs(t *testing.T) {
	both(t, func(f *fixture) {
		args := func(last string) string { return `"` + strings.Repeat("x", 5000) + last + `"` }
		f.exec("INSERT INTO periodic_task (id, task, timer, args) VALUES ('bad', 'backup', 'yearly', ?)", args("a"))
		f.due("bad", time.Second)
		f.refuse("periodic_task", "UPDATE", `NEW.args LIKE '%a"'`, "P0001")
		cfg := f.config("aside")
		seen := watch(&cfg)
		f.start(cfg)
		seen.until(f, "sign that it is set aside", kindOf(periodic.EventAside))
		time.Sleep(4 * time.Second) //nolint:forbidigo // the delays grow in real time
		begun := time.Now()
		f.exec("UPDATE periodic_task SET args = ?", args("b"))
		seen.until(f, "job", submitted("bad"))
		if took := time.Since(begun); took > time.Second {
			f.Errorf("an edit took %s to bring the task back", took)
		}
	})
}

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
