package ui

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Queues are the queues of the configuration file, by the sinks that name them.
type Queues map[periodic.Sink]periodic.Submitter

// WithQueues runs fn with the database and the queues of the configuration file.
func (env *Env) WithQueues(ctx context.Context, fn func(*store.DB, Queues) error) error {
	c, err := env.Configuration()
	if err != nil {
		return err
	}
	return env.WithDatabase(ctx, func(db *store.DB) error {
		queues, err := c.BuildQueues(db)
		if err != nil {
			return err
		}
		return fn(db, queues)
	})
}

// Missing says that no queue has the name of a sink, and what to do about it. It is
// empty if one has.
func (q Queues) Missing(sink periodic.Sink) string {
	if _, found := q[sink]; found || sink == periodic.SinkJob || sink == periodic.SinkEvent {
		return ""
	}
	return fmt.Sprintf("%v; %s", &periodic.SinkError{Sink: sink}, NameTheFile)
}

// NameTheFile is what to do where a queue is missing.
const NameTheFile = "name the configuration file that has it with --config"
