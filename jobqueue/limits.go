package jobqueue

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/text"
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

// ScopeKind says which jobs a [Limit] counts.
type ScopeKind string

// The kinds of scopes.
const (
	ScopeGroup   ScopeKind = "group"   // the jobs of a group
	ScopeHandler ScopeKind = "handler" // those that a handler runs, whose name is their [Job].Task
	ScopeTask    ScopeKind = "task"    // those of a periodic task, whose id is their [Job].Tracker
)

// Scope names the jobs that a limit counts.
type Scope struct {
	Kind ScopeKind
	Name string
}

// Limit bounds how many jobs run at once, over all executors. It is a row of the table job_limit.
type Limit struct {
	Scope
	Max     int // 0: none begins
	Running int // how many do, where a limit is read
}

// maxLimit is the greatest [Limit].Max; the column has the same bound.
const maxLimit = 1_000_000

// SetLimit bounds how many jobs of a group, a handler or a periodic task run at once, over all
// executors; with 0 none begins, until the limit is changed or dropped. Jobs that run go on, also
// if they are more. Jobs beyond the limit wait, and others go on.
func (q *Queue) SetLimit(ctx context.Context, kind ScopeKind, name string, most int) error {
	switch {
	case kind != ScopeGroup && kind != ScopeHandler && kind != ScopeTask:
		return fmt.Errorf("limit %s %q: use a group, a handler or a task", kind, name)
	case name == "" || len(name) > maxField || !text.Valid(name):
		return fmt.Errorf("limit %s %q: use a name of 1 to %d bytes", kind, name, maxField)
	case most < 0 || most > maxLimit:
		return fmt.Errorf("limit %s %q to %d: use 0 to %d", kind, name, most, maxLimit)
	}
	l := Limit{Scope: Scope{Kind: kind, Name: name}, Max: most}
	return q.store.Update(ctx, func(tx QueueTx) error { return tx.SetLimit(ctx, l) })
}

// DropLimit ends a limit, and wakes executors. It reports whether there was one.
func (q *Queue) DropLimit(ctx context.Context, kind ScopeKind, name string) (bool, error) {
	return update(ctx, q, func(tx QueueTx) (bool, error) {
		return tx.DropLimit(ctx, Scope{Kind: kind, Name: name})
	})
}

// Limits lists the limits, and how many of their jobs run now.
func (q *Queue) Limits(ctx context.Context) ([]Limit, error) {
	return view(ctx, q, func(tx QueueTx) ([]Limit, error) { return tx.Limits(ctx) })
}
