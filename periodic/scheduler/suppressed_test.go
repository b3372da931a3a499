package scheduler_test

import "testing"

// A trigger suppresses the job or the tick of one task of a batch without an error: that task gets no job, and says why where
// its tick can be written; the others get theirs.
func TestG1SuppressedRows(t *testing.T) {
	t.Parallel()
	for table, c := range map[string]struct{ condition, ticks string }{
		"job":           {"NEW.tracker = 'bad'", "SELECT count(*) FROM periodic_tick WHERE task_id = 'bad' AND decision = 'skipped' AND jid IS NULL"},
		"periodic_tick": {"NEW.task_id = 'bad'", "SELECT 1 - count(*) FROM periodic_tick WHERE task_id = 'bad'"},
	} {
		t.Run(table, func(t *testing.T) {
			both(t, func(f *fixture) {
				ids := []string{"a", "b", "bad", "c"}
				for _, id := range ids {
					f.exec(insertTask, id, "yearly")
				}
				f.once()
				for _, id := range ids {
					f.due(id, 0)
				}
				f.Trigger(table, "INSERT", c.condition, "RETURN NULL", "SELECT RAISE(IGNORE)")
				f.once()
				f.want(3, "SELECT count(*) FROM job WHERE tracker IN ('a', 'b', 'c')")
				f.want(3, "SELECT count(*) FROM periodic_tick WHERE decision = 'submitted' AND task_id <> 'bad'")
				f.want(0, "SELECT count(*) FROM job WHERE tracker = 'bad'")
				f.want(1, c.ticks)
				f.want(0, "SELECT count(*) FROM periodic_task WHERE id IN ('a', 'b', 'bad', 'c') AND nextrun <= ?", f.at(0))
			})
		})
	}
}
