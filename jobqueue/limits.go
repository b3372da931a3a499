package jobqueue

import (
	"cmp"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// Bounds of [Limits]; the columns have the same.
const (
	maxRetryLimit  = 1_000_000
	maxConcurrency = 1_000_000
	longestLimit   = 365 * 24 * time.Hour
)

// Limits are the settings of a handler or of a single job. A field that is zero is
// not set: a job has the limits of its handler, and a handler those of its executor.
type Limits struct {
	// RetryLimit is how often a failed job is tried again. 0: not set; [Never]: no
	// retries.
	RetryLimit int
	// RetryDelay is how long a failed job is stuck before the first retry; it doubles
	// with each further one. Of a job in whole seconds. 0: not set.
	RetryDelay time.Duration
	// Timeout is how long an attempt may take. Of a job in whole seconds. 0: not set.
	Timeout time.Duration
	// Concurrency is how many jobs run at once, over all executors. Of a handler it
	// counts the jobs of its task, and a row of the table job_limit replaces it. Of a
	// job it counts the jobs of its tracker that have such a limit, and the limits of
	// its task and its group hold as well. 0: not set.
	Concurrency int
}

// Over returns these limits, with those of outer where they are not set.
func (l Limits) Over(outer Limits) Limits {
	return Limits{
		RetryLimit:  cmp.Or(l.RetryLimit, outer.RetryLimit),
		RetryDelay:  cmp.Or(l.RetryDelay, outer.RetryDelay),
		Timeout:     cmp.Or(l.Timeout, outer.Timeout),
		Concurrency: cmp.Or(l.Concurrency, outer.Concurrency),
	}
}

// Validate returns an error that names every field that is out of bounds.
func (l Limits) Validate() error {
	p := &service.Check{Config: "jobqueue.Limits"}
	duration := fmt.Sprintf("1ns to %s", longestLimit)
	p.Field(Never <= l.RetryLimit && l.RetryLimit <= maxRetryLimit, "RetryLimit", l.RetryLimit, "1 to 1000000, or Never")
	p.Field(0 <= l.RetryDelay && l.RetryDelay <= longestLimit, "RetryDelay", l.RetryDelay, duration)
	p.Field(0 <= l.Timeout && l.Timeout <= longestLimit, "Timeout", l.Timeout, duration)
	p.Field(0 <= l.Concurrency && l.Concurrency <= maxConcurrency, "Concurrency", l.Concurrency, "1 to 1000000")
	return p.Err()
}

// validateOfJob is Validate for the limits of a single job, whose columns hold whole
// seconds.
func (l Limits) validateOfJob() error {
	if err := l.Validate(); err != nil {
		return err
	}
	p := &service.Check{Config: "jobqueue.Job.Limits"}
	p.Field(l.RetryDelay%time.Second == 0, "RetryDelay", l.RetryDelay, "whole seconds")
	p.Field(l.Timeout%time.Second == 0, "Timeout", l.Timeout, "whole seconds")
	return p.Err()
}

// ScopeKind says which jobs a limit counts, or a pause holds.
type ScopeKind string

// The kinds of scopes. A pause has no tracker.
const (
	ScopeGroup   ScopeKind = "group"   // those of a group
	ScopeTask    ScopeKind = "task"    // those of a task
	ScopeTracker ScopeKind = "tracker" // those of a tracker that have [Limits.Concurrency]
)

// Scope names the jobs that a limit counts.
type Scope struct {
	Kind ScopeKind
	Name string
}

// Limit bounds how many jobs of a group or a task run at once, over all executors.
type Limit struct {
	Scope
	Most    int
	Running int // how many do, where a limit is read
}
