package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/queues"
)

// queueTypes are the types of queues.
var queueTypes = map[string]func() queues.Kind{
	"river":           func() queues.Kind { return &queues.River{} },
	"graphile-worker": func() queues.Kind { return &queues.GraphileWorker{} },
	"pg-boss":         func() queues.Kind { return &queues.PgBoss{} },
	"pgmq":            func() queues.Kind { return &queues.PGMQ{} },
	"sql":             func() queues.Kind { return &queues.SQL{} },
}

func (c *Config) readQueues(r *reader, place string, n *yaml.Node) {
	c.Queues = map[periodic.Sink]queues.Kind{}
	r.pairs(n, place, func(key, value *yaml.Node) {
		sink, place := periodic.Sink(key.Value), join(place, key.Value)
		switch {
		case sink == periodic.SinkJob:
			r.mapping(value, place, keys{"notify": secret{field: &c.Notify}})
		case sink == periodic.SinkEvent || !sink.Valid():
			r.problem(key, "%s: %q cannot name a queue; use up to %d lower-case letters, digits, - and _, a letter first, but not event",
				place, sink, periodic.MaxSink)
		default:
			c.Queues[sink] = r.queue(place, value)
		}
	})
}

// queue reads a queue that is not built in.
func (r *reader) queue(place string, n *yaml.Node) queues.Kind {
	typed := cmp.Or(find(n, "type"), n)
	create := queueTypes[typed.Value]
	if create == nil {
		r.problem(typed, "%s.type must be one of %s", place, strings.Join(slices.Sorted(maps.Keys(queueTypes)), ", "))
		return nil
	}
	kind := create()
	r.mapping(n, place, kind, keys{"type": func(string, *yaml.Node) {}})
	return kind
}

// NotifyURL is the URL that hears of new jobs: "none", or empty if the configuration does not say.
func (c *Config) NotifyURL() (string, error) { return c.Notify, c.lacks("queues.job.notify") }

// BuildQueues makes the queues of the section queues. It does not look into the
// database.
func (c *Config) BuildQueues(db *store.DB) (periodic.Submitters, error) {
	built := periodic.Submitters{}
	for _, sink := range slices.Sorted(maps.Keys(c.Queues)) {
		submitter, err := queues.Open(db, c.Queues[sink])
		if err != nil {
			return nil, fmt.Errorf("%s: queues.%s: %w", c.Path, sink, err)
		}
		built[sink] = submitter
	}
	return built, nil
}
