package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
)

// maxSubject is the length of the column.
const maxSubject = 254

// heard is an event as hooks of a kind receive it; empty: they do not.
func (k Kind) heard(e Event) Event {
	switch {
	case e == "":
	case k == Kind("on_"+e), k == OnPing && (e == Success || e == Failure):
		return e
	case k == OnRecovered && e == Success:
		return Recovered
	}
	return ""
}

// hearing lists the hooks that hear of a notice. The jobs of hooks have none.
func (h Hooks) hearing(n Notice) (list []Hook) {
	if n.Handler == jobqueue.HookHandler {
		return nil
	}
	for _, k := range append(Kinds(), OnPing) {
		hook, ok := h.Of(k, n.Handler, n.Task)
		switch {
		case !ok, k.heard(n.Event) == "":
		case k == OnRecovered && n.Turned != jobqueue.Recovered, hook.Action.First && n.Turned != jobqueue.Failing:
		default:
			list = append(list, hook)
		}
	}
	return list
}

// Hears reports whether there is a hook for an event of the jobs of a handler that
// belong to a task, or for what it turned.
func (h Hooks) Hears(handler, task string, e Event, turned jobqueue.Turned) bool {
	return len(h.hearing(Notice{Handler: handler, Task: task, Event: e, Turned: turned})) > 0
}

// HearsSome reports whether there may be a hook for an event, whatever the job and what it turns.
func (h Hooks) HearsSome(e Event) bool {
	return slices.ContainsFunc(h.List(), func(one Hook) bool { return one.Kind.heard(e) != "" && one.Action != None })
}

// Jobs are the jobs of a notice: one for each hook that hears of it.
func (h Hooks) Jobs(n Notice) []jobqueue.Job {
	var jobs []jobqueue.Job
	for _, hook := range h.hearing(n) {
		told := n
		told.ID, told.Hook, told.Event = jobqueue.NewID(), hook.Name, hook.Kind.heard(n.Event)
		jobs = append(jobs, jobqueue.Job{
			JID: told.ID, Task: jobqueue.HookHandler, Group: jobqueue.HookGroup, Submitter: "nextrun", Args: text.JSON(told),
			Subject: text.Clean(string(told.Event)+" of "+cmp.Or(n.Task, n.Handler), maxSubject), Traceparent: n.Traceparent,
		})
	}
	return jobs
}

// Handler returns the handler of jobqueue.HookHandler, which does what the hooks say. submit gives a periodic task a tick of
// that due time, unless it has one. It returns an error that wraps jobqueue.ErrNotFound if there is no such task.
func (h Hooks) Handler(submit func(ctx context.Context, task string, due time.Time, reason string) error) jobqueue.Handler {
	actions := map[string]*Action{}
	for _, one := range h.List() {
		actions[one.Name] = one.Action
	}
	return jobqueue.JSON(func(ctx context.Context, job *jobqueue.JobContext, n Notice) error {
		action := actions[n.Hook]
		switch {
		case action == nil:
			return fmt.Errorf("this process has no hook %s; give all processes on a database the same hooks", n.Hook)
		case action.Submit == "":
			return action.do(ctx, job, n)
		}
		err := submit(ctx, action.Submit, n.At, fmt.Sprintf("submitted by %s of %s", n.Hook, cmp.Or(n.Task, n.Handler)))
		if errors.Is(err, jobqueue.ErrNotFound) {
			return jobqueue.Permanent(err)
		}
		return err
	})
}
