package task

import (
	"time"

	"github.com/nextrun/nextrun/jobqueue"
)

// Pending is a job that is not final.
type Pending struct {
	JID     string
	State   jobqueue.State
	Due     time.Time // the tick it is for; zero: none
	Started time.Time // zero: it has not
}
