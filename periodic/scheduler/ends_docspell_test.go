package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic/scheduler"
)

// Docspell's job executors know no hooks: the scheduler tells of the jobs that they ended, once.
func TestEndsOfDocspell(t *testing.T) {
	both(t, func(f *fixture) {
		ids := []string{"success", "failed", "cancelled", "ours", "old"}
		for _, id := range ids {
			f.exec("INSERT INTO periodic_task (id, task, timer) VALUES (?, ?, 'yearly')", id, id)
		}
		f.once()
		for _, id := range ids {
			f.due(id, time.Minute)
		}
		f.once()
		f.exec("UPDATE job SET worker = 'joex1', state = CASE WHEN tracker IN ('ours', 'old') THEN 'success' ELSE tracker END, retries = 1, finished = ?", f.at(-time.Second))
		f.exec("UPDATE job SET worker = 'host@1' WHERE tracker = 'ours'")
		f.exec("UPDATE job SET finished = ? WHERE tracker = 'old'", f.at(-2*time.Hour))
		said := "Docspell's log has the reason: nextrun job log " + f.one("SELECT jid FROM job WHERE tracker = 'failed'")
		hooks := &endHooks{}
		joex := func(c *scheduler.Config) { c.Joex, c.Hooks = true, hooks }
		f.once(joex)
		f.once(joex)
		slices.Sort(hooks.told)
		if want := []string{"failed failed " + said, "success success "}; !slices.Equal(hooks.told, want) {
			f.Errorf("the hooks heard %q, want %q", hooks.told, want)
		}
		for id, want := range map[string]string{"success": "success 2 ", "failed": "failed 2 " + said, "cancelled": "cancelled 2 ", "ours": "open 0 ", "old": "open 0 "} {
			f.want(want, endOf, id)
		}
	})
}
