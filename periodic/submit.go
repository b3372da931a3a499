package periodic

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/task"
)

// Limits of one call of a [Submitter] that does not copy args itself.
const (
	maxSubmitJobs  = 500
	maxSubmitBytes = 8 << 20
)

// cancelJobs cancels the jobs that ticks of this batch replace. It passes over jobs
// that somebody else has locked and returns those that are still pending, by
// tracker. Their ticks are not submitted: the insert would wait for that lock.
func (c committer) cancelJobs(ctx context.Context, tx backend.Tx, done outcome) (map[string]Pending, error) {
	replaced := map[string]bool{}
	for _, t := range done.ticks {
		replaced[t.TaskID] = replaced[t.TaskID] || t.Decision == Submitted || t.Decision == Queued
	}
	trackers := map[Sink]map[string]string{} // by the job's id
	for _, p := range done.kept {
		if p.Cancel != "" && replaced[p.Task.ID] {
			if trackers[p.Task.Sink] == nil {
				trackers[p.Task.Sink] = map[string]string{}
			}
			trackers[p.Task.Sink][p.Cancel] = p.Task.ID
		}
	}
	inTheWay := map[string]Pending{}
	for sink, jobs := range trackers {
		queue := c.queues[sink]
		got, err := queue.Cancel(ctx, tx.DBTX(), jobs, tx.Now())
		if err != nil {
			return nil, err
		}
		for _, jid := range got {
			delete(jobs, jid)
		}
		if len(jobs) == 0 {
			continue
		}
		left, err := queue.Pending(ctx, tx.DBTX(), slices.Collect(maps.Values(jobs)))
		if err != nil {
			return nil, err
		}
		maps.Copy(inTheWay, left)
	}
	return inTheWay, nil
}

// submitJobs submits the jobs of the recorded ticks, unless a job is in the way,
// and changes the ticks whose job is not submitted.
func (c committer) submitJobs(ctx context.Context, tx backend.Tx, done *outcome, inTheWay map[string]Pending) error {
	bySink := map[Sink][]jobqueue.Job{}
	waiting := map[string]string{}
	for _, tick := range done.ticks {
		if tick.Decision != Submitted {
			continue
		}
		if _, ok := inTheWay[tick.TaskID]; ok {
			waiting[tick.JID] = tableRefused
			continue
		}
		t := done.plans[tick.TaskID].Task
		if bySink[t.Sink] == nil {
			bySink[t.Sink] = make([]jobqueue.Job, 0, len(done.ticks))
		}
		bySink[t.Sink] = append(bySink[t.Sink], t.Job(tick.JID, tick.Due, tx.Now()))
	}
	if err := done.refuse(ctx, tx, waiting, inTheWay); err != nil {
		return err
	}
	later := laterError{}
	for sink, jobs := range bySink {
		refused, err := c.give(ctx, tx, c.queues[sink], jobs)
		if err == nil && len(refused) > 0 {
			err = c.explain(ctx, tx, done, c.queues[sink], jobs, refused, later)
		}
		if err != nil {
			return err
		}
	}
	if len(later) > 0 {
		return later
	}
	return nil
}

// laterError says, by the task's id, why queues do not take jobs now. The reasons
// may pass, so nothing of those tasks is committed.
type laterError map[string]string

func (e laterError) Error() string {
	for id, reason := range e {
		return fmt.Sprintf("the queue does not take the job of task %q now: %s", id, reason)
	}
	return "the queue does not take the jobs now"
}

// give hands jobs to a queue, and returns those that it refused.
func (c committer) give(ctx context.Context, tx backend.Tx, queue backend.Queue, jobs []jobqueue.Job) (refused []backend.Refusal, err error) {
	if queue.CopiesArgs() {
		return queue.Submit(ctx, tx.DBTX(), jobs)
	}
	err = withArgs(ctx, tx, jobs, func(part []jobqueue.Job) error {
		more, err := queue.Submit(ctx, tx.DBTX(), part)
		refused = append(refused, more...)
		return err
	})
	return refused, err
}

// withArgs reads the args of jobs and passes them on in parts of limited size.
func withArgs(ctx context.Context, tx backend.Tx, jobs []jobqueue.Job, give func([]jobqueue.Job) error) error {
	for len(jobs) > 0 {
		part := jobs[:min(len(jobs), maxSubmitJobs)]
		ids := make([]string, len(part))
		for i, j := range part {
			ids[i] = j.Tracker
		}
		args, err := tx.Args(ctx, ids, maxSubmitBytes)
		if err != nil {
			return err
		}
		n := 0
		for ; n < len(part); n++ {
			text, ok := args[part[n].Tracker]
			if !ok {
				break
			}
			part[n].Args = text
		}
		if n == 0 {
			return fmt.Errorf("the args of task %q cannot be read", part[0].Tracker)
		}
		if err := give(part[:n]); err != nil {
			return err
		}
		jobs = jobs[n:]
	}
	return nil
}

// tableRefused is the reason of a tick whose job the queue refused although no
// job of the task is pending.
const tableRefused = "the queue refused the job, although no job of the task is pending; check whether a unique index that you added forbids it"

// explain handles refused jobs. Where the queue gives no reason, somebody else has
// usually submitted a job of the task since the claim. If that job has ended by
// now, explain submits the refused one again. It adds tasks that have to wait to
// later.
func (c committer) explain(ctx context.Context, tx backend.Tx, done *outcome, queue backend.Queue,
	jobs []jobqueue.Job, refused []backend.Refusal, later laterError) error {
	reasons := map[string]string{}
	unexplained := sortRefused(jobs, refused, reasons, later)
	if len(unexplained) == 0 {
		return done.refuse(ctx, tx, reasons, nil)
	}
	ids := make([]string, len(unexplained))
	for i, j := range unexplained {
		ids[i] = j.Tracker
		reasons[j.JID] = tableRefused
	}
	pending, err := queue.Pending(ctx, tx.DBTX(), ids)
	if err != nil {
		return err
	}
	again := slices.DeleteFunc(unexplained, func(j jobqueue.Job) bool { _, ok := pending[j.Tracker]; return ok })
	if len(again) > 0 {
		still, err := c.give(ctx, tx, queue, again)
		if err != nil {
			return err
		}
		for _, j := range again {
			delete(reasons, j.JID)
		}
		for _, j := range sortRefused(again, still, reasons, later) {
			reasons[j.JID] = tableRefused
		}
	}
	return done.refuse(ctx, tx, reasons, pending)
}

// sortRefused adds the reasons of refused jobs to reasons, by the job's id, or to
// later, by the task's. It returns the jobs that were refused without a reason.
func sortRefused(jobs []jobqueue.Job, refused []backend.Refusal, reasons map[string]string, later laterError) (unexplained []jobqueue.Job) {
	byID := make(map[string]jobqueue.Job, len(jobs))
	for _, j := range jobs {
		byID[j.JID] = j
	}
	for _, r := range refused {
		switch j := byID[r.JID]; {
		case r.Passing:
			later[j.Tracker] = r.Reason
		case r.Reason != "":
			reasons[r.JID] = r.Reason
		default:
			unexplained = append(unexplained, j)
		}
	}
	return unexplained
}

// refuse changes the ticks of jobs that are not submitted, by the job's id: because
// of the pending job of their task, or because the queue does not take them.
func (o *outcome) refuse(ctx context.Context, tx backend.Tx, reasons map[string]string, pending map[string]Pending) error {
	if len(reasons) == 0 {
		return nil
	}
	var changed []Tick
	for i := range o.ticks {
		tick := &o.ticks[i]
		reason, refused := reasons[tick.JID]
		if tick.JID == "" || !refused {
			continue
		}
		plan := o.plans[tick.TaskID]
		tick.JID, tick.Decision, tick.Reason = "", Skipped, reason
		if p, ok := pending[tick.TaskID]; ok {
			tick.Reason = task.SkipReason(&p, tx.Now())
			if plan.Task.Queues() {
				tick.Decision, tick.Reason = Queued, task.WaitReason(&p, tx.Now())
			}
		} else if plan.Problem == "" || strings.HasPrefix(plan.Problem, task.WarningPrefix) {
			plan.Problem = reason
			if err := tx.SetProblem(ctx, keyOf(tick.TaskID), reason); err != nil {
				return err
			}
		}
		changed = append(changed, *tick)
	}
	_, err := tx.Record(ctx, changed, nil)
	return err
}

// keyOf is the key of a task in a [Claim].
func keyOf(id string) string { return hex.EncodeToString([]byte(id)) }
