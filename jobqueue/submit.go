package jobqueue

import (
	"context"
	"errors"
	"fmt"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue/backend"
)

// Bounds of a job's fields. PostgreSQL counts characters, SQLite does not
// count, so bytes are counted here.
const (
	maxField = 254
)

// Submit puts jobs into the queue, all or none, and returns their ids. Of a
// Job it uses JID (empty: a new one), Task (required), Group (empty: default),
// Args (empty: {}), Subject, Submitter (empty: nextrun), Priority, Tracker,
// Single, Due, Limits, and Retry: the job does not begin before that time. It returns an [*OverlapError] if a job is Single and another
// such job of its tracker is pending.
func (q *Queue) Submit(ctx context.Context, jobs ...Job) ([]string, error) {
	var jids []string
	err := q.store.Update(ctx, func(tx backend.QueueTx) (err error) {
		jids, err = submit(ctx, tx, jobs)
		return err
	})
	return jids, err
}

func submit(ctx context.Context, tx backend.QueueTx, jobs []Job) ([]string, error) {
	jids := make([]string, len(jobs))
	ready := make([]Job, len(jobs))
	byID := make(map[string]Job, len(jobs))
	for i, job := range jobs {
		service.SetDefault(&job.JID, NewID())
		service.SetDefault(&job.Group, "default")
		service.SetDefault(&job.Args, "{}")
		service.SetDefault(&job.Submitter, "nextrun")
		if err := checkJob(job); err != nil {
			return nil, fmt.Errorf("submit job %d of %d: %w", i+1, len(jobs), err)
		}
		jids[i], ready[i], byID[job.JID] = job.JID, job, job
	}
	refused, err := tx.Insert(ctx, ready)
	if err != nil {
		return nil, fmt.Errorf("submit jobs: %w", err)
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
	if err := job.Limits.ValidateOfJob(); err != nil {
		return err
	}
	if job.Limits.Concurrency > 0 && job.Tracker == "" {
		return errors.New("jobqueue.Job.Tracker is empty; a job with Limits.Concurrency needs one, whose jobs are counted")
	}
	if !text.Valid(job.Args) {
		return errors.New("jobqueue.Job.Args is not UTF-8, or contains NUL")
	}
	return nil
}
