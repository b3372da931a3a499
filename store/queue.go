package store

import (
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store/queues"
)

// Queue returns a queue of another project, in tables of the same database, as a
// submitter for [scheduler.Config] and [periodic.Tasks]. It does not use the database
// yet: the tables are looked at when they are needed, and an error says then what is
// missing. An invalid field of the kind is an error that names the field.
//
// The submitter is also a [queues.Queue], which tells how it finds its tables.
func (db *DB) Queue(k queues.Kind) (sink.Submitter, error) { return k.Open(db.db) }
