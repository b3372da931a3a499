package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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

// queueTypeNames is the list of types for messages.
func queueTypeNames() string { return strings.Join(slices.Sorted(maps.Keys(queueTypes)), ", ") }

func (c *Config) readQueues(r *reader, place string, n *node) {
	c.Queues, c.Notify = map[periodic.Sink]queues.Kind{}, map[periodic.Sink]*Notify{}
	r.pairs(n, place, func(key, value *node) {
		sink, place := periodic.Sink(key.text), join(place, key.text)
		notify := func(place string, n *node) {
			c.Notify[sink] = &Notify{}
			c.Notify[sink].read(r, place, n)
		}
		switch {
		case sink == periodic.SinkJob || sink == periodic.SinkEvent:
			if value.has("type") {
				r.problem(key, "%s: %s is built in; choose another name for this queue", place, sink)
				return
			}
			r.mapping(value, place, keys{"notify": notify})
		case !sink.Valid():
			r.problem(key, "%s: %q cannot name a queue; use up to %d lower-case letters, digits, - and _, a letter first",
				place, sink, periodic.MaxSink)
		default:
			c.Queues[sink] = r.queue(place, value, notify)
		}
	})
}

// queue reads a queue that is not built in.
func (r *reader) queue(place string, n *node, notify func(string, *node)) queues.Kind {
	typed, before := n.find("type"), len(r.problems)
	if typed == nil {
		r.problem(n, "%s needs a type: one of %s", place, queueTypeNames())
		return nil
	}
	create := queueTypes[r.text(join(place, "type"), typed)]
	if create == nil {
		if len(r.problems) == before {
			r.problem(typed, "%s must be one of %s", join(place, "type"), queueTypeNames())
		}
		return nil
	}
	kind, more := create(), keys{"type": func(string, *node) {}, "notify": notify}
	if sql, ok := kind.(*queues.SQL); ok {
		if statement := n.find("notify"); statement != nil && statement.kind == isText {
			more["notify"] = &sql.Notify
		}
		r.need(n, place, "enqueue", "")
		r.need(n, place, "pending", "")
	}
	r.mapping(n, place, kind, more)
	r.check(n, place, kindOf{kind})
	return kind
}

// kindOf has the method of the other owners of settings.
type kindOf struct{ queues.Kind }

func (k kindOf) Validate() error { return queues.Validate(k.Kind) }

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
