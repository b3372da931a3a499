package batch

import (
	"fmt"
	"sync"
	"time"

	"github.com/nextrun/nextrun/periodic/task"
)

// Delays remember what kept this scheduler from deciding ticks in time. They are safe for
// concurrent use. Times are of the database's clock.
type Delays struct {
	mu    sync.Mutex
	began time.Time // this scheduler has scheduled since then; zero: not yet
	sinks map[task.Sink]delay
	rows  map[string]delay // by the tasks' keys
	all   []delay          // that concerned all tasks, the newest last
}

// delay is a time in which ticks were not decided, and why.
type delay struct {
	cause string
	from  time.Time // zero: it may have begun at any time
	until time.Time // zero: it lasts
}

// Bounds of what is remembered.
const (
	mostDelays = 20
	mostRows   = 1000
)

// noticed is how late a delay may be noticed: its beginning is known as exactly as this.
const noticed = 5 * time.Second

// covers reports whether a tick was due in the delay.
func (d delay) covers(due time.Time) bool {
	return !d.from.After(due.Add(noticed)) && (d.until.IsZero() || due.Before(d.until))
}

// Began notes that this scheduler schedules from now on.
func (o *Delays) Began(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.began = now
}

// Failed notes why a sink cannot be used.
func (o *Delays) Failed(sink task.Sink, cause error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sinks == nil {
		o.sinks = map[task.Sink]delay{}
	}
	o.sinks[sink] = delay{cause: cause.Error()}
}

// Over notes that a sink can be used again.
func (o *Delays) Over(sink task.Sink, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if last, ok := o.sinks[sink]; ok {
		last.until = now
		o.sinks[sink] = last
	}
}

// Locked notes who has locked the row of a task.
func (o *Delays) Locked(key, who string, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.rows == nil || len(o.rows) >= mostRows {
		o.rows = map[string]delay{}
	}
	o.rows[key] = delay{cause: who, from: now}
}

// Free notes that the row is locked no more.
func (o *Delays) Free(key string, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if last, ok := o.rows[key]; ok {
		last.until = now
		o.rows[key] = last
	}
}

// Stood notes why this scheduler decided nothing for a while.
func (o *Delays) Stood(cause string, from, until time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.all); n > 0 && o.all[n-1].cause == cause && from.Sub(o.all[n-1].until) < noticed {
		o.all[n-1].until = until
		return
	}
	if len(o.all) == mostDelays {
		o.all = o.all[1:]
	}
	o.all = append(o.all, delay{cause, from, until})
}

// why says why the ticks of a task were not decided in time, as far as this scheduler
// knows; empty: it did not run.
func (o *Delays) why(t *task.Task) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	due := t.NextRun
	if last, ok := o.sinks[t.Sink]; ok && !t.Unplanned() && due.Before(last.until) {
		return fmt.Sprintf("its sink %q could not be used: %s", t.Sink, last.cause)
	}
	for _, d := range o.all {
		if d.covers(due) {
			return d.cause
		}
	}
	if o.began.IsZero() || due.Before(o.began) && !t.Manual() {
		return ""
	}
	if row, ok := o.rows[Key(t.ID)]; ok && row.covers(due) {
		return "its row was locked by " + row.cause
	}
	return task.DelayUnknown
}
