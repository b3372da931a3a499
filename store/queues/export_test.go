package queues

import (
	"github.com/nextrun/nextrun/internal/foreign"
	"github.com/nextrun/nextrun/internal/sqldb"
)

// OpenIn is [Open] for a database without a [store.DB].
func OpenIn(db *sqldb.DB, k Kind) (foreign.Queue, error) { return k.kind().Open(db) }
