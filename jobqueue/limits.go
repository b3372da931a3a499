package jobqueue

import (
	"cmp"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// Bounds of [Limits]; the columns have the same.
const (
	maxRetryLimit = 1_000_000
	longestLimit  = 365 * 24 * time.Hour
)

// Limits are the settings of a handler or of a single job. A field that is zero is
// not set: a job has the limits of its handler, and a handler those of its executor.
type Limits struct {
	// RetryLimit is how often a failed job is tried again. 0: not set; [Never]: no
	// retries.
	RetryLimit int `yaml:"retry_limit" form:"orzero"`
	// RetryDelay is how long a failed job is stuck before the first retry; it doubles
	// with each further one. Of a job in whole seconds. 0: not set.
	RetryDelay time.Duration `yaml:"retry_delay"`
	// Timeout is how long an attempt may take. Of a job in whole seconds. 0: not set.
	Timeout time.Duration
}

// Over returns these limits, with those of outer where they are not set.
func (l Limits) Over(outer Limits) Limits {
	return Limits{
		RetryLimit: cmp.Or(l.RetryLimit, outer.RetryLimit),
		RetryDelay: cmp.Or(l.RetryDelay, outer.RetryDelay),
		Timeout:    cmp.Or(l.Timeout, outer.Timeout),
	}
}

// Validate returns an error that names every field that is out of bounds.
func (l Limits) Validate() error {
	p := &service.Check{Config: "jobqueue.Limits"}
	duration := fmt.Sprintf("1ns to %s", longestLimit)
	p.Field(Never <= l.RetryLimit && l.RetryLimit <= maxRetryLimit, "RetryLimit", l.RetryLimit, "1 to 1000000, or Never")
	p.Field(0 <= l.RetryDelay && l.RetryDelay <= longestLimit, "RetryDelay", l.RetryDelay, duration)
	p.Field(0 <= l.Timeout && l.Timeout <= longestLimit, "Timeout", l.Timeout, duration)
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
