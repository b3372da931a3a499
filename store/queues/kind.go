package queues

import (
	"github.com/nextrun/nextrun/internal/foreign"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store"
)

// Kind is a kind of queue with its settings: a value of one of the types of this package.
type Kind interface{ kind() foreign.Kind }

// Open returns a queue of another project, in tables of the same database, as a submitter for
// [scheduler.Config] and [periodic.Tasks]. It does not use the database yet: the tables are
// looked at when they are needed, and an error says then what is missing. An invalid field of
// the kind is an error that names the field.
//
// [scheduler.Config]: https://pkg.go.dev/github.com/nextrun/nextrun/periodic/scheduler#Config
// [periodic.Tasks]: https://pkg.go.dev/github.com/nextrun/nextrun/periodic#Tasks
func Open(db *store.DB, k Kind) (sink.Submitter, error) { return k.kind().Open(sqldb.Of(db)) }

// Validate returns an error that names every field of a kind that is out of bounds. It needs
// no database.
func Validate(k Kind) error { return k.kind().Validate() }

var (
	// ErrUnusable is wrapped by errors about a queue that takes no jobs: its tables are
	// missing or too old, or this role lacks a right. No row is to blame.
	ErrUnusable = foreign.ErrUnusable
)
