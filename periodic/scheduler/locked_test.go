package scheduler_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// A task whose row somebody has locked is named once, with who it is, and once more when
// the lock has ended. Its missed ticks say that the row was locked: a scheduler did run.
func TestLockedRowIsNamed(t *testing.T) {
	for name, locks := range map[string][]string{"alone": {"FOR UPDATE"}, "by two": {"FOR SHARE", "FOR SHARE"}} {
		t.Run(name, func(t *testing.T) {
			f := newPostgresFixture(t)
			f.exec(insertTask, "locked", "*:*:*")
			f.exec(insertTask, "free", "*:*:*")
			f.exec("UPDATE periodic_task SET overlap = 'allow'")
			cfg := f.config("free")
			seen := watch(&cfg)
			f.start(cfg)
			seen.until(t, "job", submitted("locked"))
			var held []*sql.Tx
			for _, mode := range locks {
				held = append(held, f.open("SET application_name = 'by-hand'; SELECT * FROM periodic_task WHERE id = 'locked' "+mode))
			}
			named := seen.until(t, "name of who has locked the row", kindOf(scheduler.EventHeld))
			if named.ID != "locked" || !strings.Contains(named.Problem, " (by-hand, user ") || !strings.Contains(named.Problem, ", idle in transaction for ") {
				t.Errorf("the row of %s is locked by %q", named.ID, named.Problem)
			}
			seen.until(t, "job", submitted("free"))
			for _, tx := range held {
				if err := tx.Rollback(); err != nil {
					t.Fatal(err)
				}
			}
			missed := seen.until(t, "missed ticks", func(e scheduler.Event) bool {
				return e.Kind == scheduler.EventTick && e.Tick.Decision == periodic.Missed
			})
			if want := "its row was locked by pid "; !strings.HasPrefix(missed.Tick.Reason, want) || strings.Contains(missed.Tick.Reason, "idle") {
				t.Errorf("ticks were missed since %q, want %s", missed.Tick.Reason, want)
			}
			lines := 0
			seen.until(t, "end of the lock", func(e scheduler.Event) bool {
				if e.Kind == scheduler.EventHeld {
					lines++
				}
				return e.Kind == scheduler.EventHeld && e.ID == "locked" && e.Problem == ""
			})
			if lines != 2 {
				t.Errorf("%d lines about the lock, want one at its beginning and one at its end", lines)
			}
		})
	}
}
