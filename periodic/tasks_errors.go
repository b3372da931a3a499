package periodic

import (
	"fmt"
	"time"

	"github.com/nextrun/nextrun/periodic/task"
)

// PendingError is returned by [Tasks.RunNow] for a task that is not enabled, if
// a job of it is in the way.
type PendingError struct {
	Pending Pending
	now     time.Time
}

// Error names the job.
func (e *PendingError) Error() string {
	return task.PendingText(&e.Pending, e.now) + "; wait for its end, or cancel it"
}

// TickError is the error for a tick that is queued or submitted already.
type TickError struct{ Due time.Time }

// Error names the tick.
func (e *TickError) Error() string {
	return fmt.Sprintf("the tick of %s has its job already", e.Due.UTC().Format("2006-01-02 15:04:05"))
}
