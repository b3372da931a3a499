package find

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// shown is how many candidates an error lists.
const shown = 5

// Job returns the id of the job that a text means: an id, or a part of just one, such as its end,
// which a narrow table shows.
func Job(ctx context.Context, queue *jobqueue.Queue, text string) (string, error) {
	_, err := queue.Get(ctx, text)
	if err != nil {
		err = fmt.Errorf("job %s: %w", text, err)
	}
	return search("job", text, err, func(part string) ([]jobqueue.Job, error) {
		return queue.List(ctx, jobqueue.Filter{Part: part, Limit: shown + 1})
	}, func(j *jobqueue.Job) []string { return []string{j.JID, j.Task, j.State.Word()} })
}

// Event is [Job] for events.
func Event(ctx context.Context, admin outbox.Admin, text string) (string, error) {
	_, err := admin.Show(ctx, text)
	return search("event", text, err, func(part string) ([]outbox.Record, error) {
		return admin.List(ctx, outbox.Filter{Part: part, Limit: shown + 1})
	}, func(r *outbox.Record) []string { return []string{r.ID, r.Topic, r.Type} })
}

// search returns a text if reading what has it as its id gave no error, and otherwise the
// only id that is like it. Describe returns an id and what an error says about it.
func search[T any](noun, text string, err error, list func(part string) ([]T, error), describe func(*T) []string) (string, error) {
	part := strings.TrimPrefix(text, "…")
	if err == nil || !errors.Is(err, store.ErrNotFound) || part == "" {
		return text, err
	}
	found, listErr := list(part)
	switch {
	case listErr != nil:
		return "", listErr
	case len(found) == 0:
		return "", err
	case len(found) == 1:
		return describe(&found[0])[0], nil
	}
	var lines []string
	for i := range found[:min(len(found), shown)] {
		lines = append(lines, strings.Join(describe(&found[i]), "  "))
	}
	if len(found) > shown {
		lines = append(lines, "... and more")
	}
	return "", fmt.Errorf("%s %s: several ids are like that; add a few characters:\n  %s", noun, text, strings.Join(lines, "\n  "))
}

// LastJob returns the id of the newest job of the task that a text means.
func LastJob(ctx context.Context, db *store.DB, text string) (string, error) {
	t, err := taskOf(ctx, db, text)
	if err != nil {
		return "", err
	}
	if t.Sink == periodic.SinkEvent {
		return "", fmt.Errorf("task %q has events and no jobs; see: nextrun event list --task %s", t.ID, t.ID)
	}
	jobs, err := jobqueue.NewQueue(db.Jobs()).List(ctx, jobqueue.Filter{Tracker: t.ID, Limit: 1})
	if err != nil {
		return "", err
	}
	if len(jobs) > 0 {
		return jobs[0].JID, nil
	}
	if t.Sink != periodic.SinkJob {
		return "", fmt.Errorf("the jobs of task %q go to the queue %q; look there, or at its ticks: nextrun why %s", t.ID, t.Sink, t.ID)
	}
	return "", fmt.Errorf("task %q has no job; to see why: nextrun why %s", t.ID, t.ID)
}

func taskOf(ctx context.Context, db *store.DB, text string) (periodic.Task, error) {
	tasks := periodic.NewTasks(db.Tasks())
	id, err := Task(ctx, tasks, text)
	if err != nil {
		return periodic.Task{}, err
	}
	return tasks.Get(ctx, id)
}
