package check

import (
	"cmp"
	"context"
	"strings"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
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
	r.queues = ui.Queues(built)
	return r.queues.Check(ctx, func(name periodic.Sink, found queues.Report) error {
		about := "queue " + string(name)
		for _, p := range found.Problems {
			r.add(levelError, about, "%s", p)
		}
		for _, w := range found.Warnings {
			r.add(levelWarning, about, "%s", w)
		}
		if len(found.Problems)+len(found.Warnings) == 0 {
			r.add(levelOK, about, "%s", found.Kind)
		}
		if _, tells := built[name].(sink.EndTeller); tells {
			return r.checkEnds(ctx, db, name, found.Kind)
		}
		return nil
	})
}

// manyUnknown is how many jobs must have ended in an unknown way to be remarkable, and every how
// manieth of all.
const (
	manyUnknown = 3
	partUnknown = 10
)

// keepLonger is what has a queue keep jobs that have ended for longer.
var keepLonger = map[string]string{
	"river":   "or have River keep them for longer: CompletedJobRetentionPeriod of its clients",
	"pg-boss": "or have pg-boss keep them for longer: deleteAfterSeconds of the queue",
	"sql":     "or have the statement outcome return them",
}

// checkEnds warns if many jobs of a queue were gone before their end was seen.
func (r *report) checkEnds(ctx context.Context, db *store.DB, name periodic.Sink, kind string) error {
	unknown, all, err := view.Of(db).UnknownEnds(ctx, string(name))
	if err != nil || unknown < manyUnknown || unknown*partUnknown < all {
		return err
	}
	r.add(levelWarning, "queue "+string(name), "how %d of the %d jobs that ended in the last 24 hours ended is not known: they were gone. "+
		"If its workers delete jobs that succeed, set queues.%s.gone to success; %s", unknown, all, name,
		cmp.Or(keepLonger[kind], "if they delete those that fail, to failed"))
	return nil
}

// checkSink looks for the queue of a task, unless the scheduler has said already
// what is wrong with it.
func (r *report) checkSink(about string, t *periodic.Task, c *config.Config) {
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
	_, cancels := submitter.(sink.Canceller)
	if foreign && !cancels && t.Overlap == periodic.OverlapReplace && !strings.Contains(t.Problem, "overlap replace") {
		r.add(levelWarning, about, "overlap replace: the queue %q cannot cancel jobs, so ticks wait for the end of the job instead", t.Sink)
	}
}
