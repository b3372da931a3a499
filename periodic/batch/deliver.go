package batch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// delivery hands the jobs of one submit transaction to their queues.
type delivery struct {
	tx      Tx
	queues  map[periodic.Sink]periodic.Queue
	outcome *Outcome
	later   LaterError
	spans   *spans
}

// cancelJobs cancels the jobs that ticks of this batch replace. It passes over jobs
// that somebody else has locked and returns those that are still pending, by
// tracker. Their ticks are not submitted: the insert would wait for that lock.
func (d *delivery) cancelJobs(ctx context.Context) (map[string]sink.Pending, error) {
	replaced := map[string]bool{}
	for _, t := range d.outcome.Ticks {
		replaced[t.TaskID] = replaced[t.TaskID] || t.Decision == periodic.Submitted
	}
	trackers := map[periodic.Sink]map[string]string{} // by the job's id
	for _, p := range d.outcome.Kept {
		if p.Cancel != "" && (p.Held || replaced[p.Task.ID]) {
			if trackers[p.Task.Sink] == nil {
				trackers[p.Task.Sink] = map[string]string{}
			}
			trackers[p.Task.Sink][p.Cancel] = p.Task.ID
		}
	}
	inTheWay := map[string]sink.Pending{}
	for sink, jobs := range trackers {
		queue := d.queues[sink]
		got, err := queue.Cancel(ctx, d.tx.DBTX(), jobs, d.tx.Now())
		if err != nil {
			return nil, &SinkError{sink, err}
		}
		for _, jid := range got {
			delete(jobs, jid)
		}
		if len(jobs) == 0 {
			continue
		}
		left, err := queue.Pending(ctx, d.tx.DBTX(), slices.Collect(maps.Values(jobs)))
		if err != nil {
			return nil, &SinkError{sink, err}
		}
		maps.Copy(inTheWay, left)
	}
	return inTheWay, nil
}

// submitJobs submits the jobs of the recorded ticks, unless a job is in the way,
// and changes the ticks whose job is not submitted.
func (d *delivery) submitJobs(ctx context.Context, inTheWay map[string]sink.Pending) error {
	bySink := map[periodic.Sink][]jobqueue.Job{}
	for _, tick := range d.outcome.Ticks {
		if tick.Decision != periodic.Submitted {
			continue
		}
		if _, ok := inTheWay[tick.TaskID]; ok {
			d.later[tick.TaskID] = ""
			continue
		}
		t := d.outcome.Plans[tick.TaskID].Task
		if bySink[t.Sink] == nil {
			bySink[t.Sink] = make([]jobqueue.Job, 0, len(d.outcome.Ticks))
		}
		bySink[t.Sink] = append(bySink[t.Sink], t.Job(tick.JID, tick.Due, d.tx.Now()))
	}
	for sink, jobs := range bySink {
		d.spans.begin(sink, jobs)
		refused, err := d.submitTo(ctx, d.queues[sink], jobs)
		if err == nil && len(refused) > 0 {
			err = d.resolveRefusals(ctx, d.queues[sink], jobs, refused)
		}
		if err != nil {
			return &SinkError{sink, err}
		}
	}
	if len(d.later) > 0 {
		return d.later
	}
	return nil
}

// submitTo hands jobs to a queue, and returns those that it refused.
func (d *delivery) submitTo(ctx context.Context, queue periodic.Queue, jobs []jobqueue.Job) (refused []sink.Submission, err error) {
	if queue.CopiesArgs() {
		return queue.Submit(ctx, d.tx.DBTX(), jobs)
	}
	err = withArgs(ctx, d.tx, jobs, func(part []jobqueue.Job) error {
		more, err := queue.Submit(ctx, d.tx.DBTX(), part)
		refused = append(refused, more...)
		return err
	})
	return refused, err
}

// Limits of one call of a [sink.Submitter] that does not copy args itself.
const (
	maxSubmitJobs  = 100       // also of a transaction
	maxSubmitBytes = 256 << 10 // more may stay in the connection of a process that was stopped, and no limit ends that
)

// withArgs reads the args of jobs and passes them on in parts of limited size.
func withArgs(ctx context.Context, tx Tx, jobs []jobqueue.Job, give func([]jobqueue.Job) error) error {
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

// resolveRefusals handles refused jobs. Where the queue gives no reason, somebody else has
// usually submitted a job of the task since it was read. If that job has ended by
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
		why[j.JID] = periodic.TableRefused
	}
	pending, err := queue.Pending(ctx, d.tx.DBTX(), ids)
	if err != nil {
		return err
	}
	again := slices.DeleteFunc(unexplained, func(j jobqueue.Job) bool {
		_, waits := pending[j.Tracker]
		if waits && d.outcome.Plans[j.Tracker].Task.Queues() {
			d.later[j.Tracker] = ""
		}
		return waits
	})
	if len(again) > 0 {
		still, err := d.submitTo(ctx, queue, again)
		if err != nil {
			return err
		}
		for _, j := range again {
			delete(why, j.JID)
		}
		for _, j := range d.classify(again, still, why) {
			why[j.JID] = periodic.TableRefused
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
	for i := range d.outcome.Ticks {
		tick := &d.outcome.Ticks[i]
		reason, refused := why[tick.JID]
		if tick.JID == "" || !refused {
			continue
		}
		tick.JID, tick.Decision, tick.Cause, tick.Reason = "", periodic.Skipped, periodic.CauseRefused, reason
		if _, ok := pending[tick.TaskID]; ok {
			tick.Cause, tick.Reason = periodic.CauseOverlap, ""
		} else if err := d.notePermanentRefusal(ctx, *tick); err != nil {
			return err
		}
		changed = append(changed, *tick)
	}
	_, err := d.tx.Record(ctx, changed, nil)
	return err
}

// notePermanentRefusal notes a tick that the queue of its task does not take, and the reason as
// the problem of the task, unless that has another.
func (d *delivery) notePermanentRefusal(ctx context.Context, tick periodic.Tick) error {
	plan := d.outcome.Plans[tick.TaskID]
	if plan.Problem != "" && !strings.HasPrefix(plan.Problem, periodic.WarningPrefix) {
		return nil
	}
	plan.Problem = tick.Reason
	return d.tx.SetProblem(ctx, tick.TaskID, tick.Reason)
}
