package plan

import (
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Pages load what the pages show. They are safe for concurrent use.
type Pages struct {
	DB     *store.DB
	Tasks  *periodic.Tasks
	Prefix string // of addresses
	Now    func() time.Time
}
