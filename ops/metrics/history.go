package metrics

import (
	"context"
	"slices"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/internal/figures"
	"github.com/nextrun/nextrun/periodic"
)

// depths is how many of its newest ticks a task is judged by. Ten are enough for most. More
// are read of a task that runs so often that these are all too young to be judged, or
// whose jobs have not succeeded among them.
var depths = [...]int{10, 100, 1000}

// mostDeep bounds the ticks that are read at each depth after the first, so that figures
// come also while everything fails.
const mostDeep = 100_000

// readHistory reads what became of the tasks' newest ticks. Ticks after aged are too
// young to be judged.
func readHistory(ctx context.Context, from figures.Reader, tasks []periodic.Task, aged time.Time) (map[string]figures.History, error) {
	of := make(map[string]figures.History, len(tasks))
	ids := make([]string, len(tasks))
	byID := make(map[string]*periodic.Task, len(tasks))
	for i := range tasks {
		ids[i], byID[tasks[i].ID] = tasks[i].ID, &tasks[i]
	}
	for i, depth := range depths {
		if i > 0 {
			ids = ids[:min(len(ids), mostDeep/depth)]
		}
		if len(ids) == 0 {
			break
		}
		list, err := from.History(ctx, ids, depth)
		if err != nil {
			return nil, err
		}
		for _, h := range list {
			of[h.ID] = h
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return enough(byID[id], of[id], depth, aged) })
	}
	return of, nil
}

// enough reports whether the newest ticks of a task, which are all that there are if they
// are fewer than depth, say what is usual and which of them are old enough.
func enough(t *periodic.Task, h figures.History, depth int, aged time.Time) bool {
	ticks := h.Ticks
	if len(ticks) < depth {
		return true
	}
	succeeds := t.Sink != periodic.SinkJob && !h.LastSuccess.IsZero() || slices.ContainsFunc(ticks, func(k figures.TickResult) bool { return k.State == string(jobqueue.Success) })
	return succeeds && !ticks[len(ticks)-1].Due.After(aged.Add(-t.Jitter-2*usual(ticks)))
}
