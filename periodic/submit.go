package periodic

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

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
		canceller, ok := c.submitters[sink].(backend.Canceller)
		if !ok {
			continue
		}
		got, err := canceller.Cancel(ctx, tx.DBTX(), slices.Collect(maps.Keys(jobs)), tx.Now())
		if err != nil {
			return nil, err
		}
		for _, jid := range got {
			delete(jobs, jid)
		}
		if len(jobs) == 0 {
			continue
		}
		left, err := c.submitters[sink].Pending(ctx, tx.DBTX(), slices.Collect(maps.Values(jobs)))
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
	var waiting []string
	for _, tick := range done.ticks {
		if tick.Decision != Submitted {
			continue
		}
		if _, ok := inTheWay[tick.TaskID]; ok {
			waiting = append(waiting, tick.JID)
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
	for sink, jobs := range bySink {
		refused, err := c.give(ctx, tx, c.submitters[sink], jobs)
		if err == nil && len(refused) > 0 {
			err = c.explain(ctx, tx, done, sink, jobs, refused)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// give hands jobs to a submitter, and returns the ids of those that it refused.
func (c committer) give(ctx context.Context, tx backend.Tx, submitter Submitter, jobs []jobqueue.Job) (refused []string, err error) {
	if _, ok := submitter.(backend.ArgsCopier); ok {
		return submitter.Submit(ctx, tx.DBTX(), jobs)
	}
	err = withArgs(ctx, tx, jobs, func(part []jobqueue.Job) error {
		more, err := submitter.Submit(ctx, tx.DBTX(), part)
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

// explain finds out why jobs were refused. Usually somebody else has submitted a
// job of the task since the claim. If that job has ended by now, explain submits
// the refused one again.
func (c committer) explain(ctx context.Context, tx backend.Tx, done *outcome, sink Sink, jobs []jobqueue.Job, refused []string) error {
	jobs = slices.DeleteFunc(slices.Clone(jobs), func(j jobqueue.Job) bool { return !slices.Contains(refused, j.JID) })
	trackers := make([]string, len(jobs))
	for i, j := range jobs {
		trackers[i] = j.Tracker
	}
	pending, err := c.submitters[sink].Pending(ctx, tx.DBTX(), trackers)
	if err != nil {
		return err
	}
	again := slices.DeleteFunc(slices.Clone(jobs), func(j jobqueue.Job) bool { _, ok := pending[j.Tracker]; return ok })
	if len(again) > 0 {
		still, err := c.give(ctx, tx, c.submitters[sink], again)
		if err != nil {
			return err
		}
		refused = slices.DeleteFunc(refused, func(jid string) bool {
			return !slices.Contains(still, jid) && slices.ContainsFunc(again, func(j jobqueue.Job) bool { return j.JID == jid })
		})
	}
	return done.refuse(ctx, tx, refused, pending)
}

// refuse changes the ticks of jobs that are not submitted: because of the pending
// job of their task, or because the queue does not take them.
func (o *outcome) refuse(ctx context.Context, tx backend.Tx, jids []string, pending map[string]Pending) error {
	if len(jids) == 0 {
		return nil
	}
	var changed []Tick
	for i := range o.ticks {
		tick := &o.ticks[i]
		if tick.JID == "" || !slices.Contains(jids, tick.JID) {
			continue
		}
		plan := o.plans[tick.TaskID]
		tick.JID, tick.Decision, tick.Reason = "", Skipped, tableRefused
		if p, ok := pending[tick.TaskID]; ok {
			tick.Reason = task.SkipReason(&p, tx.Now())
			if plan.Task.Queues() {
				tick.Decision, tick.Reason = Queued, task.WaitReason(&p, tx.Now())
			}
		} else if plan.Problem == "" {
			plan.Problem = tableRefused
			if err := tx.SetProblem(ctx, keyOf(tick.TaskID), tableRefused); err != nil {
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
