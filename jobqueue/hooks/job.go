package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/internal/traceparent"
	"github.com/nextrun/nextrun/jobqueue"
)

// maxSubject is the length of the column.
const maxSubject = 254

// heard are the kinds of hooks that hear of an event, and as what they hear it.
func heard(e Event) map[Kind]Event {
	switch e {
	case Success:
		return map[Kind]Event{OnSuccess: Success, OnPing: Success, OnRecovered: Recovered}
	case Failure:
		return map[Kind]Event{OnFailure: Failure, OnPing: Failure}
	case Missed:
		return map[Kind]Event{OnMissed: Missed}
	case Paused:
		return map[Kind]Event{OnPaused: Paused}
	}
	return nil
}

// hears reports whether a hook hears of a job that turned its task.
func (h Hook) hears(turned jobqueue.Turned) bool {
	_, once := h.Action.(first)
	switch {
	case h.Kind == OnRecovered:
		return turned == jobqueue.Recovered
	case h.Kind == OnFailure && once:
		return turned == jobqueue.Failing
	}
	return true
}

// Hears reports whether there is a hook for an event of the jobs of a handler that
// belong to a task, or for what it turned. The jobs of hooks have none.
func (h Hooks) Hears(handler, task string, e Event, turned jobqueue.Turned) bool {
	if handler == jobqueue.HookHandler {
		return false
	}
	for k := range heard(e) {
		if hook, ok := h.Of(k, handler, task); ok && hook.hears(turned) {
			return true
		}
	}
	return false
}

// HearsSome reports whether there may be a hook for an event, whatever the job and what it turns.
func (h Hooks) HearsSome(e Event) bool {
	for _, one := range h.List() {
		if _, hears := heard(e)[one.Kind]; hears && one.Action != None {
			return true
		}
	}
	return false
}

// Jobs are the jobs of a notice: one for each hook that hears of it.
func (h Hooks) Jobs(n Notice) []jobqueue.Job {
	var jobs []jobqueue.Job
	for k, event := range heard(n.Event) {
		hook, ok := h.Of(k, n.Handler, n.Task)
		if !ok || !hook.hears(n.Turned) {
			continue
		}
		n.ID, n.Hook, n.Event = jobqueue.NewID(), hook.Name, event
		jobs = append(jobs, jobqueue.Job{
			JID: n.ID, Task: jobqueue.HookHandler, Group: jobqueue.HookGroup, Submitter: "nextrun", Args: text.JSON(n),
			Subject: text.Clean(string(event)+" of "+cmp.Or(n.Task, n.Handler), maxSubject), Traceparent: n.Traceparent,
		})
	}
	return jobs
}

// Submitter submits periodic tasks.
type Submitter interface {
	// SubmitNext gives a task a tick of that due time, unless it has one. It returns an
	// error that wraps jobqueue.ErrNotFound if there is no such task.
	SubmitNext(ctx context.Context, task string, due time.Time, reason string) error
}

// Handler returns the handler of jobqueue.HookHandler, which does what the hooks say.
func (h Hooks) Handler(next Submitter) jobqueue.Handler {
	actions := map[string]Action{}
	for _, one := range h.List() {
		actions[one.Name] = one.Action
	}
	return func(ctx context.Context, job *jobqueue.JobContext) error {
		var n Notice
		if err := json.Unmarshal([]byte(job.Args), &n); err != nil || n.Hook == "" {
			return jobqueue.Permanent(errors.New("the args are not the notice of a hook"))
		}
		action := actions[n.Hook]
		if action == nil {
			return fmt.Errorf("this process has no hook %s; give all processes on a database the same hooks", n.Hook)
		}
		if jobqueue.Traceparent(ctx) == "" { // attempts are not traced
			ctx = traceparent.With(ctx, n.Traceparent)
		}
		err := do(ctx, action, n, next)
		if errors.Is(err, jobqueue.ErrNotFound) {
			return jobqueue.Permanent(err)
		}
		return err
	}
}

func do(ctx context.Context, action Action, n Notice, next Submitter) error {
	task, submits := Next(action)
	if !submits {
		return action.Do(ctx, n)
	}
	return next.SubmitNext(ctx, task, n.At, fmt.Sprintf("submitted by %s of %s", n.Hook, cmp.Or(n.Task, n.Handler)))
}
