package queues

import (
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic/sink"
)

// OpenIn is [Open] for a database without a [store.DB].
func OpenIn(db *sqldb.DB, k Kind) (sink.Submitter, error) { return open(db, k) }
