package task

import (
	"time"

	"github.com/nextrun/nextrun/jobqueue"
)

// OverdueAfter is how long after its time a task counts as overdue. A scheduler that
// works takes a task within milliseconds.
const OverdueAfter = 5 * time.Second

// Pending is a job that is not final.
type Pending struct {
	JID     string
	State   jobqueue.State
	Due     time.Time // the tick it is for; zero: none
	Started time.Time // zero: it has not
}
