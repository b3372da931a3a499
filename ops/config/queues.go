package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/queues"
)

// queueTypes are the types of queues. Each makes one, with the keys that set its
// fields.
var queueTypes = map[string]func() (queues.Kind, keys){
	"river": func() (queues.Kind, keys) {
		k := &queues.River{}
		return k, keys{"schema": &k.Schema, "queue": &k.Queue, "max_attempts": &k.MaxAttempts, "priority": &k.Priority, "gone": &k.Gone}
	},
	"graphile-worker": func() (queues.Kind, keys) {
		k := &queues.GraphileWorker{}
		return k, keys{"schema": &k.Schema, "queue": &k.Queue, "max_attempts": &k.MaxAttempts, "gone": &k.Gone}
	},
	"pg-boss": func() (queues.Kind, keys) {
		k := &queues.PgBoss{}
		return k, keys{"schema": &k.Schema, "queue": &k.Queue, "per_task": &k.PerTask, "gone": &k.Gone}
	},
	"pgmq": func() (queues.Kind, keys) {
		k := &queues.PGMQ{}
		return k, keys{"queue": &k.Queue, "gone": &k.Gone}
	},
	"sql": func() (queues.Kind, keys) {
		k := &queues.SQL{}
		return k, keys{"enqueue": &k.Enqueue, "pending": &k.Pending, "cancel": &k.Cancel, "outcome": &k.Outcome, "gone": &k.Gone, "notify": &k.Notify}
	},
}

// requiredKeys are the keys that a type needs, besides its type.
var requiredKeys = map[string][]string{"sql": {"enqueue", "pending"}}

// queueTypeNames is the list of types for messages.
func queueTypeNames() string { return strings.Join(slices.Sorted(maps.Keys(queueTypes)), ", ") }

// queueReader reads the section queues.
type queueReader struct{ *reader }

func (r queueReader) queues(place string, n *yaml.Node, c *Config) {
	c.Queues, c.Notify = map[periodic.Sink]queues.Kind{}, map[periodic.Sink]*Notify{}
	r.pairs(n, place, func(key, value *yaml.Node) {
		sink, place := periodic.Sink(key.Value), join(place, key.Value)
		notify := func(place string, v *yaml.Node) { c.Notify[sink] = r.notify(place, v) }
		switch {
		case sink == periodic.SinkJob || sink == periodic.SinkEvent:
			if has(value, "type") {
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
func (r queueReader) queue(place string, n *yaml.Node, notify func(string, *yaml.Node)) queues.Kind {
	typed := find(n, "type")
	if typed == nil {
		r.problem(n, "%s needs a type: one of %s", place, queueTypeNames())
		return nil
	}
	before := len(r.problems)
	create, found := queueTypes[r.text(join(place, "type"), typed)]
	if len(r.problems) > before {
		return nil
	}
	if !found {
		r.problem(typed, "%s must be one of %s", join(place, "type"), queueTypeNames())
		return nil
	}
	kind, known := create()
	known["type"] = func(string, *yaml.Node) {} // read above
	if statement := find(n, "notify"); statement == nil || resolve(statement).Tag != "!!str" || known["notify"] == nil {
		known["notify"] = notify
	}
	r.mapping(n, place, known)
	for _, key := range requiredKeys[resolve(typed).Value] {
		r.need(n, place, key, "")
	}
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
