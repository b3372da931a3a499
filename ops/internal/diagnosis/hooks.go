package diagnosis

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/store"
)

// mostHooks is how many jobs of hooks are read.
const mostHooks = 100

// hookFact is a hook of the task whose receiver has not taken its notice.
type hookFact struct {
	job    jobqueue.Job
	notice hooks.Notice
}

// hookJobs are the jobs of hooks that a filter finds, with their notices, of those that are wanted.
func hookJobs(ctx context.Context, db *store.DB, f jobqueue.Filter, wanted func(*hooks.Notice) bool) ([]hookFact, error) {
	f.Group, f.WithArgs, f.Limit = jobqueue.HookGroup, true, mostHooks
	jobs, err := jobqueue.NewQueue(db.Jobs()).List(ctx, f)
	var list []hookFact
	for _, j := range jobs {
		var n hooks.Notice
		if json.Unmarshal([]byte(j.Args), &n) == nil && wanted(&n) {
			list = append(list, hookFact{j, n})
		}
	}
	return list, err
}

// readHooks finds the hooks of a task that nobody has heard, of a day.
func readHooks(ctx context.Context, db *store.DB, id string, now time.Time) ([]hookFact, error) {
	return hookJobs(ctx, db, jobqueue.Filter{
		States: []jobqueue.State{jobqueue.Waiting, jobqueue.Stuck, jobqueue.Failed}, Since: now.AddDate(0, 0, -1), Until: now.Add(-waitsLong),
	}, func(n *hooks.Notice) bool { return n.Task == id })
}

// ofHooks says which hooks nobody has heard: the newest of each state.
func ofHooks(f *Facts) []Finding {
	var list []Finding
	said := map[jobqueue.State]bool{}
	for _, h := range f.hooks {
		if said[h.job.State] {
			continue
		}
		said[h.job.State] = true
		why := sentence(text.FirstLine(h.job.Result))
		switch h.job.State {
		case jobqueue.Failed:
			list = append(list, Finding{hookDead, fmt.Sprintf("Its hook %s was given up: %s", h.notice.Hook, why), "to deliver it again: nextrun job retry " + h.job.JID})
		case jobqueue.Stuck:
			list = append(list, Finding{hookRefused, fmt.Sprintf("Its hook %s is not delivered, and is tried again: %s", h.notice.Hook, why),
				"more about it: nextrun job show " + h.job.JID})
		default:
			list = append(list, Finding{hookWaits, fmt.Sprintf("Its hook %s waits for an executor that has hooks.", h.notice.Hook),
				"is a process running whose configuration has this hook? start one: nextrun executor --config FILE"})
		}
	}
	return list
}
