package jobqueue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/text"
)

// maxField is the greatest length of a job's texts in bytes: PostgreSQL counts characters, and SQLite does not count.
const maxField = 254

// Submit puts jobs into the queue, all or none, and returns their ids. Of a
// Job it uses JID (empty: a new one), Task (required), Group (empty: default),
// Args (empty: {}), Subject, Submitter (empty: nextrun), Priority, Tracker,
// Single, Due, Limits, Traceparent, and Retry: the job does not begin before that time. It
// returns an [*OverlapError] if a job is Single and another such job of its tracker is
// pending.
func (q *Queue) Submit(ctx context.Context, jobs ...Job) (jids []string, err error) {
	ready, err := prepare(jobs)
	if err != nil {
		return nil, err
	}
	end := q.trace(ctx, ready)
	defer func() { end(err) }()
	return update(ctx, q, func(tx QueueTx) ([]string, error) { return submit(ctx, tx, ready) })
}

// SubmitOption changes a job before [Submit] puts it into the queue. Any function may:
// it sees the job with its task and args.
type SubmitOption func(*Job)

// At lets the job wait for a time; one that has passed is none.
func At(t time.Time) SubmitOption { return func(job *Job) { job.Retry = t } }

// InGroup sets the group of the job. Groups take turns.
func InGroup(name string) SubmitOption { return func(job *Job) { job.Group = name } }

// Tracked gives the job a tracker, by which to find it and to count it.
func Tracked(tracker string) SubmitOption { return func(job *Job) { job.Tracker = tracker } }

// Submit puts a job into the queue whose args are a value: the counterpart of a handler
// made by [JSON], which decodes them. It returns the job's id. Use queue.In(tx) to
// submit the job in a transaction of yours. Errors are those of [Queue.Submit], and that
// args cannot be encoded as JSON.
func Submit[T any](ctx context.Context, queue *Queue, task string, args T, options ...SubmitOption) (jid string, err error) {
	text, err := json.Marshal(args)
	if err != nil {
		return "", fmt.Errorf("submit a job of task %s: encode its args: %w", task, err)
	}
	job := Job{Task: task, Args: string(text)}
	for _, change := range options {
		change(&job)
	}
	jids, err := queue.Submit(ctx, job)
	if err != nil {
		return "", err
	}
	return jids[0], nil
}

// prepare returns the jobs with what was left out.
func prepare(jobs []Job) ([]Job, error) {
	ready := slices.Clone(jobs)
	for i := range ready {
		job := &ready[i]
		service.SetDefault(&job.JID, NewID())
		service.SetDefault(&job.Group, "default")
		service.SetDefault(&job.Args, "{}")
		service.SetDefault(&job.Submitter, "nextrun")
		if err := checkJob(*job); err != nil {
			return nil, fmt.Errorf("submit job %d of %d: %w", i+1, len(jobs), err)
		}
	}
	return ready, nil
}

func submit(ctx context.Context, tx QueueTx, jobs []Job) ([]string, error) {
	refused, err := tx.Insert(ctx, jobs)
	if err != nil {
		return nil, fmt.Errorf("submit jobs: %w", err)
	}
	jids := make([]string, len(jobs))
	byID := make(map[string]Job, len(jobs))
	for i, job := range jobs {
		jids[i], byID[job.JID] = job.JID, job
	}
	if len(refused) > 0 {
		tracker := byID[refused[0]].Tracker
		other, err := tx.PendingSingle(ctx, tracker)
		if err != nil {
			return nil, fmt.Errorf("submit jobs: %w", err)
		}
		return nil, fmt.Errorf("submit jobs: %w", &OverlapError{Tracker: tracker, JID: other})
	}
	return jids, nil
}

// checkJob checks the fields that a submitter sets.
func checkJob(job Job) error {
	if job.Task == "" {
		return errors.New("jobqueue.Job.Task is empty; name the task whose handler is to run the job")
	}
	if job.Single && job.Tracker == "" {
		return errors.New("jobqueue.Job.Tracker is empty; a Single job needs one")
	}
	for name, value := range map[string]string{
		"JID": job.JID, "Task": job.Task, "Group": job.Group, "Subject": job.Subject,
		"Submitter": job.Submitter, "Tracker": job.Tracker,
	} {
		if len(value) > maxField {
			return fmt.Errorf("jobqueue.Job.%s has %d bytes; use at most %d", name, len(value), maxField)
		}
		if !text.Valid(value) {
			return fmt.Errorf("jobqueue.Job.%s is %q; use UTF-8 without NUL", name, value)
		}
	}
	if err := job.Limits.validateOfJob(); err != nil {
		return err
	}
	if !text.Valid(job.Args) {
		return errors.New("jobqueue.Job.Args is not UTF-8, or contains NUL")
	}
	return nil
}
