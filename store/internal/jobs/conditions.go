package jobs

import (
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// Conditions on rows of the table job, as its partial indexes have them.
const (
	claimable    = "state = 'waiting' AND retry IS NULL"
	waitsForTime = "(state = 'stuck' OR state = 'waiting' AND retry IS NOT NULL)" // most of them: Docspell's stuck jobs have no time
	hasWorker    = "state IN ('scheduled', 'running')"
	pending      = "state IN " + exchange.PendingStates
	ofHooks      = "group_ = '" + jobqueue.HookGroup + "'"
	notOfHooks   = "group_ <> '" + jobqueue.HookGroup + "'"
)

// Conditions on rows that are found by their ids. They are opaque to the planner of PostgreSQL, whose
// statistics on the partial indexes are out of date as soon as a queue fills or empties. For a table
// that was never analysed it expects one row, and joins by a nested loop over a full scan.
var (
	claimableByID = opaque(claimable)
	// heldByWorker is the fence of every change that a worker, $2, makes to its jobs.
	heldByWorker = opaque("job.state IN ('scheduled', 'running') AND coalesce(job.worker, '') = $2")
)

func opaque(condition string) string { return "CASE WHEN " + condition + " THEN true ELSE false END" }

// opaqueState is the column state in such a condition.
const opaqueState = "state || ''"
