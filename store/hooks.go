package store

import (
	"github.com/nextrun/nextrun/internal/hookbook"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/internal/events"
)

// Hooks are the hooks of a program on a database. It is the field Hooks of
// [executor.Config] and of [scheduler.Config], which write events, and it makes the
// relay that delivers them.
//
// [executor.Config]: https://pkg.go.dev/github.com/nextrun/nextrun/jobqueue/executor#Config
type Hooks struct {
	eventHooks
	db   *DB
	book *hookbook.Book
}

type eventHooks = events.Hooks

// Hooks connects hooks with the database. It returns an error that names what is wrong
// with them, and does not use the database yet.
//
// Give all executors and schedulers of a database the same hooks: the one that ends a
// job writes the events. Any process that has the hook delivers them.
func (db *DB) Hooks(h hooks.Hooks) (*Hooks, error) {
	book, err := hookbook.NewBook(h)
	if err != nil {
		return nil, err
	}
	return &Hooks{db.events.Hooks(book), db, book}, nil
}

// Relay returns a relay that delivers the events of the hooks. Of its configuration
// Topics is of no use. queues are the queues of [scheduler.Config.Submitters], for hooks
// that submit tasks.
func (h *Hooks) Relay(c relay.Config, queues periodic.Submitters) (*relay.Relay, error) {
	c.Topics = nil
	tasks := periodic.NewTasks(h.db.Tasks()).With(queues)
	return relay.New(h.eventHooks, h.book.Publisher(tasks), hookbook.RelayConfig(c))
}
