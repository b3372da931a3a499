package check

import (
	"context"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store/queues"
)

// checkQueues looks for the queues of the configuration in the database.
func (r *report) checkQueues(ctx context.Context) error {
	return r.queues.Check(ctx, func(name periodic.Sink, found queues.Report) error {
		about := "queue " + string(name)
		for _, p := range found.Problems {
			r.add(levelError, about, "%s", p)
		}
		for _, w := range found.Warnings {
			r.warn(about, "%s", w)
		}
		if len(found.Problems)+len(found.Warnings) == 0 {
			r.add(levelOK, about, "%s", found.Kind)
		}
		return nil
	})
}

// checkSink looks for the queue of a task, unless the row says already what is wrong with it.
func (r *report) checkSink(about string, t *periodic.Task) {
	if r.queues == nil || t.Problem != "" {
		return
	}
	if text := r.queues.Missing(t.Sink); text != "" {
		level := levelWarning // schedulers may have a configuration that has the queue
		if r.config.Path != "" {
			level = levelError
		}
		r.add(level, about, "%s", text)
		return
	}
	submitter, foreign := r.queues[t.Sink]
	_, cancels := submitter.(sink.Canceller)
	if foreign && !cancels && t.Overlap == periodic.OverlapReplace {
		r.warn(about, "overlap replace: the queue %q cannot cancel jobs, so ticks wait for the end of the job instead", t.Sink)
	}
}
