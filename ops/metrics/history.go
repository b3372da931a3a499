package metrics

import (
	"context"
	"slices"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
)

// depths is how many of its newest ticks a task is judged by. Ten are enough for most. More
// are read of a task that runs so often that these are all too young to be judged, or
// whose jobs have not succeeded among them.
var depths = [...]int{10, 100, 1000}

// mostDeep bounds the ticks that are read at each depth after the first, so that figures
// come also while everything fails.
const mostDeep = 100_000

// history is how a task is doing, with as many of its newest runs as judge it.
type history struct {
	view.Facts
	Success time.Time // when the latest run that succeeded ended; zero: none did
}

// readHistory reads what became of the tasks' newest ticks. Ticks after aged are too
// young to be judged.
func readHistory(ctx context.Context, from view.Reader, tasks []periodic.Task, aged time.Time) (map[string]history, error) {
	of := make(map[string]history, len(tasks))
	list, err := from.Facts(ctx, tasks, depths[0])
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(tasks))
	for i, f := range list {
		ids[i], of[f.Task.ID] = f.Task.ID, history{Facts: f}
	}
	for i, depth := range depths {
		if i > 0 {
			ids = ids[:min(len(ids), mostDeep/depth)]
			runs, err := from.Newest(ctx, ids, depth, periodic.Never)
			if err != nil {
				return nil, err
			}
			for _, id := range ids {
				h := of[id]
				h.Runs = runs[id]
				of[id] = h
			}
		}
		successes, err := from.Successes(ctx, ids, max(depth, leastSearched))
		if err != nil {
			return nil, err
		}
		ids = slices.DeleteFunc(ids, func(id string) bool {
			h := of[id]
			h.Success = successes[id]
			of[id] = h
			return h.enough(depth, aged)
		})
	}
	return of, nil
}

// leastSearched is how many of the newest ticks of a task are looked through for its last success at least.
const leastSearched = 50

// enough reports whether the newest runs of a task, which are all that there are if they
// are fewer than depth, say what is usual and which of them are old enough.
func (h *history) enough(depth int, aged time.Time) bool {
	if len(h.Runs) < depth {
		return true
	}
	succeeds := h.Task.Sink != periodic.SinkJob && !h.Success.IsZero() || slices.ContainsFunc(h.Runs, func(k view.Run) bool { return k.State == string(jobqueue.Success) })
	return succeeds && !h.Runs[len(h.Runs)-1].Due.After(aged.Add(-h.Task.Jitter-2*usual(h.Runs)))
}
