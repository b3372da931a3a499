package batch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/internal/reasons"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// LaterError says, by the task's id, why queues do not take jobs now. The reasons may
// pass, so nothing of those tasks is committed.
type LaterError map[string]string

func (e LaterError) Error() string {
	for id, reason := range e {
		return fmt.Sprintf("the queue does not take the job of task %q now: %s", id, reason)
	}
	return "the queue does not take the jobs now"
}

// resolveRefusals handles refused jobs. Where the queue gives no reason, somebody else has
// usually submitted a job of the task since the claim. If that job has ended by
// now, it submits the refused one again.
func (d *delivery) resolveRefusals(ctx context.Context, queue periodic.Queue, jobs []jobqueue.Job, refused []sink.Submission) error {
	why := map[string]string{}
	unexplained := d.classify(jobs, refused, why)
	if len(unexplained) == 0 {
		return d.recordRefused(ctx, why, nil)
	}
	ids := make([]string, len(unexplained))
	for i, j := range unexplained {
		ids[i] = j.Tracker
		why[j.JID] = reasons.TableRefused
	}
	pending, err := queue.Pending(ctx, d.tx.DBTX(), ids)
	if err != nil {
		return err
	}
	again := slices.DeleteFunc(unexplained, func(j jobqueue.Job) bool { _, ok := pending[j.Tracker]; return ok })
	if len(again) > 0 {
		still, err := d.submitTo(ctx, queue, again)
		if err != nil {
			return err
		}
		for _, j := range again {
			delete(why, j.JID)
		}
		for _, j := range d.classify(again, still, why) {
			why[j.JID] = reasons.TableRefused
		}
	}
	return d.recordRefused(ctx, why, pending)
}

// classify adds the reasons of refused jobs to why, by the job's id, or to later, by
// the task's. It returns the jobs that were refused without a reason.
func (d *delivery) classify(jobs []jobqueue.Job, refused []sink.Submission, why map[string]string) (unexplained []jobqueue.Job) {
	byID := make(map[string]jobqueue.Job, len(jobs))
	for _, j := range jobs {
		byID[j.JID] = j
	}
	for _, r := range refused {
		switch j := byID[r.JID]; {
		case r.Passing:
			d.later[j.Tracker] = r.Refused
		case r.Refused != "":
			why[r.JID] = r.Refused
		default:
			unexplained = append(unexplained, j)
		}
	}
	return unexplained
}

// recordRefused changes the ticks of jobs that are not submitted, by the job's id: because
// of the pending job of their task, or because the queue does not take them.
func (d *delivery) recordRefused(ctx context.Context, why map[string]string, pending map[string]sink.Pending) error {
	if len(why) == 0 {
		return nil
	}
	var changed []periodic.Tick
	var uncounted []string
	for i := range d.outcome.Ticks {
		tick := &d.outcome.Ticks[i]
		reason, refused := why[tick.JID]
		if tick.JID == "" || !refused {
			continue
		}
		tick.JID, tick.Decision, tick.Reason = "", periodic.Skipped, reason
		if p, ok := pending[tick.TaskID]; ok {
			tick.Reason = reasons.SkipReason(&p, tick.Due, d.tx.Now())
			if d.outcome.Plans[tick.TaskID].Task.Queues() {
				tick.Decision, tick.Reason = periodic.Queued, reasons.WaitReason(&p, tick.Due, d.tx.Now())
			}
		} else if err := d.notePermanentRefusal(ctx, *tick); err != nil {
			return err
		}
		changed = append(changed, *tick)
		if p := d.outcome.Plans[tick.TaskID]; p.Task.Pace.MaxTicks > 0 && !tick.Due.Equal(p.Manual) {
			uncounted = append(uncounted, tick.TaskID)
		}
	}
	_, err := d.tx.Record(ctx, changed, nil)
	if err == nil && len(uncounted) > 0 {
		err = d.tx.Uncount(ctx, uncounted)
	}
	crashpoint.At("scheduler/ticks-refused")
	return err
}

// notePermanentRefusal notes a tick that the queue of its task does not take, and the reason as
// the problem of the task, unless that has another.
func (d *delivery) notePermanentRefusal(ctx context.Context, tick periodic.Tick) error {
	if d.outcome.refused == nil {
		d.outcome.refused = map[periodic.TickKey]bool{}
	}
	d.outcome.refused[tick.Key()] = true
	plan := d.outcome.Plans[tick.TaskID]
	if plan.Problem != "" && !strings.HasPrefix(plan.Problem, reasons.WarningPrefix) {
		return nil
	}
	plan.Problem = tick.Reason
	return d.tx.SetProblem(ctx, tick.TaskID, tick.Reason)
}
