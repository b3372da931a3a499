package scheduler_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic/scheduler"
)

// raisedCodes are those that stand for the whole database, unless a trigger
// raises them, such as one that asks a remote server which is down; and one that
// nobody knows.
var raisedCodes = []string{"40001", "40P01", "53200", "53100", "57P01", "08001", "58030", "25006", "UE001"}

// The others are scheduled, the task is named, and its tick stays due.
func TestG5RowsForWhichATriggerRaisesACodeOfTheDatabase(t *testing.T) {
	t.Parallel()
	for what, refused := range map[string]struct{ table, event, condition string }{
		"job":  {"job", "INSERT", "NEW.tracker = 'bad'"},
		"task": {"periodic_task", "UPDATE", "OLD.id = 'bad'"},
	} {
		for _, code := range raisedCodes {
			t.Run(what+" "+code, func(t *testing.T) {
				f := newPostgresFixture(t)
				for _, id := range []string{"a", "b", "bad", "c", "d"} {
					f.exec(insertTask, id, "yearly")
					f.exec("UPDATE periodic_task SET nextrun = ? WHERE id = ?", f.at(-time.Second), id)
				}
				allow := f.Refuse(refused.table, refused.event, refused.condition, code)
				_, seen := f.start(f.db.Periodic())
				if e := seen.until(t, "sign that it is set aside", kindOf(scheduler.EventAside)); e.ID != "bad" {
					t.Errorf("%s is set aside: %v", e.ID, e.Err)
				}
				for _, id := range []string{"a", "b", "c", "d"} {
					seen.until(t, "job", submitted(id))
				}
				f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id = 'bad'")
				allow()
				seen.until(t, "job", submitted("bad"))
			})
		}
	}
}
