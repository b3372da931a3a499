package queues

import (
	"errors"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store"
)

// Kind is a kind of queue with its settings: a value of one of the types of this package.
type Kind interface {
	// Validate returns an error that names every field that is out of bounds.
	Validate() error
	// preset returns the statements for a database, or an error if it cannot hold this queue.
	preset(sqlite bool) (preset, error)
}

// Open returns a queue of another project, in tables of the same database, as a submitter for
// [scheduler.Config] and [periodic.Tasks]. It does not use the database yet; [Check] does. An
// invalid field of the kind is an error that names the field.
//
// [scheduler.Config]: https://pkg.go.dev/github.com/nextrun/nextrun/periodic/scheduler#Config
// [periodic.Tasks]: https://pkg.go.dev/github.com/nextrun/nextrun/periodic#Tasks
func Open(db *store.DB, k Kind) (sink.Submitter, error) { return open(sqldb.Of(db), k) }

func open(db *sqldb.DB, k Kind) (sink.Submitter, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	p, err := k.preset(db.SQL().IsSQLite())
	if err != nil {
		return nil, err
	}
	q := &queue{db: db, preset: p}
	switch {
	case p.cancel.empty() && p.ends.empty():
		return q, nil
	case p.ends.empty():
		return cancelling{q}, nil
	case p.cancel.empty():
		return telling{q}, nil
	}
	return both{q, cancelling{q}, telling{q}}, nil
}

// Heeds returns those columns of a task that reach its jobs, among priority, retry_limit,
// retry_delay and timeout; ok is false if the submitter is not from [Open].
func Heeds(s sink.Submitter) (columns []string, ok bool) {
	q, ok := s.(interface{ base() *queue })
	if !ok {
		return nil, false
	}
	return q.base().preset.heeds, true
}

// ErrUnusable is wrapped by errors about a queue that takes no jobs: its tables are
// missing or of another version, or this role lacks a right. No row is to blame.
var ErrUnusable = errors.New("the queue cannot be used")

// queue is an opened queue that cannot cancel jobs. It is safe for concurrent use.
type queue struct {
	db     *sqldb.DB
	preset preset
}

func (q *queue) base() *queue { return q }

// CopiesArgs implements [sink.ArgsCopier].
func (q *queue) CopiesArgs() {}

// Queues that can cancel jobs, and those that tell how their jobs ended.
type (
	cancelling struct{ *queue }
	telling    struct{ *queue }
	both       struct {
		*queue
		cancelling
		telling
	}
)
