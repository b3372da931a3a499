package ui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/queues"
)

// Queues are the queues of the configuration file, by the sinks that name them.
type Queues periodic.Submitters

// WithQueues runs fn with the database and the queues of the configuration file.
func (env *Env) WithQueues(ctx context.Context, fn func(*store.DB, Queues) error) error {
	c, err := env.Configuration()
	if err != nil {
		return err
	}
	return env.WithDatabase(ctx, func(db *store.DB) error {
		built, err := c.BuildQueues(db)
		if err != nil {
			return err
		}
		return fn(db, built)
	})
}

// Check calls fn with what was found out about each queue in the database, in the order of their names.
func (q Queues) Check(ctx context.Context, fn func(periodic.Sink, queues.Report) error) error {
	for _, name := range slices.Sorted(maps.Keys(q)) {
		report, known, err := queues.Check(ctx, q[name])
		if err != nil {
			return fmt.Errorf("queue %q: %w", name, err)
		}
		if !known {
			continue
		}
		if err := fn(name, report); err != nil {
			return err
		}
	}
	return nil
}

// Missing says that no queue has the name of a sink, and what to do about it. It is
// empty if one has.
func (q Queues) Missing(sink periodic.Sink) string {
	if _, found := q[sink]; found || sink == periodic.SinkJob || sink == periodic.SinkEvent {
		return ""
	}
	return fmt.Sprintf("%v; %s", &periodic.SinkError{Sink: sink}, NameTheFile)
}

// Ignores says which limits of a task, and whether its priority, do not reach its jobs;
// empty: all that are set do, or no queue has the name of its sink.
func (q Queues) Ignores(t *periodic.Task) string {
	heeds, known := queues.Heeds(q[t.Sink])
	if !known && t.Sink != periodic.SinkEvent {
		return ""
	}
	set := map[string]bool{
		"priority": known && t.Priority != 0, "retry_limit": t.RetryLimit != nil, "retry_delay": t.RetryDelay != 0, "timeout": t.Timeout != 0,
	}
	maps.DeleteFunc(set, func(name string, is bool) bool { return !is || slices.Contains(heeds, name) })
	if len(set) == 0 {
		return ""
	}
	text := fmt.Sprintf("no effect with sink %s: %s", t.Sink, strings.Join(slices.Sorted(maps.Keys(set)), ", "))
	if known {
		text += "; set that in the queue, or in its workers"
	}
	return text
}

// NameTheFile is what to do where a queue is missing.
const NameTheFile = "name the configuration file that has it with --config"
