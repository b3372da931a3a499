package check

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/cmd/nextrun/config"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/queues"
)

// checkQueues looks for the queues of the configuration in the database.
func (r *report) checkQueues(ctx context.Context, db *store.DB, c *config.Config) error {
	if c == nil {
		return nil
	}
	built, err := c.BuildQueues(db)
	if err != nil {
		r.misconfigured(c, err)
		return nil
	}
	r.queues = built
	for _, name := range slices.Sorted(maps.Keys(built)) {
		inspector, ok := built[name].(queues.Inspector)
		if !ok {
			continue
		}
		found, err := inspector.Inspect(ctx)
		if err != nil {
			return fmt.Errorf("queue %q: %w", name, err)
		}
		about := "queue " + string(name)
		for _, p := range found.Problems {
			level := levelError
			if p.Warning {
				level = levelWarning
			}
			r.add(level, about, "%s", p)
		}
		if len(found.Problems) == 0 {
			r.add(levelOK, about, "%s, %s", found.Kind, found.Found)
		}
	}
	return nil
}

// checkSink looks for the queue of a task, unless the scheduler has said already
// what is wrong with it.
func (r *report) checkSink(about string, t *periodic.Task, c *config.Config) {
	if r.noJobs && t.Sink == periodic.SinkJob {
		r.add(levelError, about, "sink job: %s", store.ErrNoJobs)
	}
	if r.queues == nil {
		return
	}
	if text := r.queues.Missing(t.Sink); text != "" {
		if level := levelWarning; !strings.Contains(t.Problem, "has no queue") {
			if c.Path != "" { // else schedulers may have one that has the queue
				level = levelError
			}
			r.add(level, about, "%s", text)
		}
		return
	}
	submitter, foreign := r.queues[t.Sink]
	_, cancels := submitter.(periodic.Canceller)
	if foreign && !cancels && t.Overlap == periodic.OverlapReplace && !strings.Contains(t.Problem, "overlap replace") {
		r.add(levelWarning, about, "overlap replace: the queue %q cannot cancel jobs, so ticks wait for the end of the job instead", t.Sink)
	}
}
