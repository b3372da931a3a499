package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/periodic"
)

// Tasks are found by how they are doing, and by what is in their rows.
func TestTasksInAState(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		for _, id := range []string{"bad", "dead", "failed", "fine", "late", "none", "off", "overdue", "paused", "published", "retrying"} {
			env.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun, created) VALUES (?, 'echo', 'daily', '2099-01-01 00:00:00', '2026-01-01 00:00:00')`, id)
		}
		env.Exec(`UPDATE periodic_task SET problem = 'wrong' WHERE id = 'bad'`)
		env.Exec(`UPDATE periodic_task SET sink = 'event' WHERE id IN ('dead', 'published')`)
		env.Exec(`UPDATE periodic_task SET enabled = false WHERE id = 'off'`)
		env.Exec(`UPDATE periodic_task SET paused = '2026-01-01 00:00:00' WHERE id = 'paused'`)
		env.Exec(`UPDATE periodic_task SET nextrun = '2026-01-02 00:00:00' WHERE id = 'overdue'`)
		env.Exec(`UPDATE periodic_task SET since = '2026-01-01 00:00:00' WHERE id = 'overdue'`)
		tick := func(id string, day int, decision, state string) {
			due := fmt.Sprintf("2026-01-%02d 00:00:00", day)
			env.Exec(`INSERT INTO periodic_tick (task_id, due, decision, jid, worker, decided) VALUES (?, ?, ?, ?, 'w', ?)`, id, due, decision, id+due, due)
			if state != "" {
				env.Exec(`INSERT INTO job (jid, task, tracker, state, submitted) VALUES (?, 'echo', ?, ?, ?)`, id+due, id, state, due)
			}
		}
		for _, id := range []string{"failed", "off", "paused"} { // what is skipped or runs after it does not make up for it
			tick(id, 1, "submitted", "success")
			tick(id, 2, "submitted", "failed")
			tick(id, 3, "skipped", "")
			tick(id, 4, "submitted", "running")
		}
		tick("fine", 1, "submitted", "failed")
		tick("fine", 2, "missed", "")
		tick("fine", 3, "submitted", "success")
		tick("late", 1, "submitted", "success")
		tick("late", 2, "late", "")
		tick("retrying", 1, "submitted", "success")
		tick("retrying", 2, "submitted", "stuck")
		for id, column := range map[string]string{"dead": "dead", "published": "published"} {
			tick(id, 1, "submitted", "")
			env.Exec(`INSERT INTO event_store (id, aggregate_id, topic, type, aggregate_version) VALUES (?, ?, 't', 't', 1)`, id+"2026-01-01 00:00:00", id)
			env.Exec(`INSERT INTO outbox_message (event_id, topic, `+column+`) VALUES (?, 't', '2026-01-01 00:00:00')`, id+"2026-01-01 00:00:00")
		}
		env.Exec(`UPDATE periodic_task SET group_ = 'other' WHERE id = 'fine'`)
		for _, c := range []struct {
			filter periodic.TaskFilter
			want   string
		}{
			{periodic.TaskFilter{State: periodic.TaskProblem}, "bad"},
			{periodic.TaskFilter{State: periodic.TaskFailed}, "dead failed late"},
			{periodic.TaskFilter{State: periodic.TaskAttention}, "bad dead failed late overdue retrying"},
			{periodic.TaskFilter{State: periodic.TaskRetrying}, "retrying"},
			{periodic.TaskFilter{State: periodic.TaskOverdue}, "overdue"},
			{periodic.TaskFilter{State: periodic.TaskDisabled}, "off"},
			{periodic.TaskFilter{State: periodic.TaskPaused}, "paused"},
			{periodic.TaskFilter{State: periodic.TaskBlocked}, "bad"},
			{periodic.TaskFilter{State: periodic.TaskEnabled}, "dead failed fine late none overdue published retrying"},
			{periodic.TaskFilter{State: "unheard of"}, ""},
			{periodic.TaskFilter{Limit: 2}, "bad dead"},
			{periodic.TaskFilter{After: "dead", Limit: 2, Task: "echo"}, "failed fine"},
			{periodic.TaskFilter{Group: "other"}, "fine"},
			{periodic.TaskFilter{Task: "none"}, ""},
		} {
			list, err := env.tasks.List(t.Context(), c.filter)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, task := range list {
				ids = append(ids, task.ID)
			}
			if got := strings.Join(ids, " "); got != c.want {
				t.Errorf("%+v: %q, want %q", c.filter, got, c.want)
			}
		}
	})
}
