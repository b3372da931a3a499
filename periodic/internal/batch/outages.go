package batch

import (
	"fmt"
	"sync"
	"time"

	"github.com/nextrun/nextrun/periodic/task"
)

// Outages remember until when a sink could not be used: ticks before that were not
// missed for want of a scheduler. They are safe for concurrent use.
type Outages struct {
	mu   sync.Mutex
	last map[task.Sink]outage
}

type outage struct {
	cause error
	until time.Time // zero: it lasts
}

// Failed notes why a sink cannot be used.
func (o *Outages) Failed(sink task.Sink, cause error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last == nil {
		o.last = map[task.Sink]outage{}
	}
	o.last[sink] = outage{cause: cause}
}

// Over notes that a sink can be used again.
func (o *Outages) Over(sink task.Sink, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if last, ok := o.last[sink]; ok {
		last.until = now
		o.last[sink] = last
	}
}

// why says why a task was not scheduled at its time; empty: its sink is not to blame.
func (o *Outages) why(t *task.Task) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if last, ok := o.last[t.Sink]; ok && !t.Unplanned() && t.NextRun.Before(last.until) {
		return fmt.Sprintf("its sink %q could not be used: %v", t.Sink, last.cause)
	}
	return ""
}
