package rows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// shown is how many candidates an error lists.
const shown = 5

// FindTask returns the id of the task that a text means: an id, or a part of just one.
func FindTask(ctx context.Context, tasks *periodic.Tasks, text string) (string, error) {
	_, err := tasks.Get(ctx, text)
	return search("task", text, err, func(part string) ([]periodic.Task, error) {
		return like(ctx, tasks, part)
	}, func(t *periodic.Task) []string { return []string{t.ID, t.Timer} })
}

// like are the tasks whose ids have a part, or whose handler has that name.
func like(ctx context.Context, tasks *periodic.Tasks, part string) ([]periodic.Task, error) {
	list, err := tasks.List(ctx, periodic.TaskFilter{})
	return slices.DeleteFunc(list, func(t periodic.Task) bool {
		return t.Task != part && !strings.Contains(strings.ToLower(t.ID), strings.ToLower(part))
	}), err
}

// findJob is [FindTask] for jobs. A narrow table shows the ends of their ids.
func findJob(ctx context.Context, queue *jobqueue.Queue, text string) (string, error) {
	_, err := queue.Get(ctx, text)
	return search("job", text, err, func(part string) ([]jobqueue.Job, error) {
		return queue.List(ctx, jobqueue.Filter{Part: part, Limit: shown + 1})
	}, func(j *jobqueue.Job) []string { return []string{j.JID, j.Task, j.State.Word()} })
}

// findEvent is [FindTask] for events.
func findEvent(ctx context.Context, admin outbox.Admin, text string) (string, error) {
	_, err := admin.Show(ctx, text)
	return search("event", text, err, func(part string) ([]outbox.Record, error) {
		return admin.List(ctx, outbox.Filter{Part: part, Limit: shown + 1})
	}, func(r *outbox.Record) []string { return []string{r.ID, r.Topic, r.Type} })
}

// search returns a text if reading what has it as its id gave no error, and otherwise the
// only id that is like it. Describe returns an id and what an error says about it.
func search[T any](noun, text string, err error, list func(part string) ([]T, error), describe func(*T) []string) (string, error) {
	part := strings.TrimPrefix(text, "…")
	if !errors.Is(err, store.ErrNotFound) {
		return text, err
	}
	var found []T
	if part != "" {
		var listErr error
		if found, listErr = list(part); listErr != nil {
			return "", listErr
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%s %q: %w; see: nextrun %s list", noun, text, store.ErrNotFound, noun)
	case 1:
		return describe(&found[0])[0], nil
	}
	var lines []string
	for i := range found[:min(len(found), shown)] {
		lines = append(lines, strings.Join(describe(&found[i]), "  "))
	}
	if len(found) > shown {
		lines = append(lines, "... and more")
	}
	return "", fmt.Errorf("%s %q: several ids are like that; add a few characters:\n  %s", noun, text, strings.Join(lines, "\n  "))
}

// lastJob returns the id of the newest job of the task that is meant.
func lastJob(ctx context.Context, db *store.DB, meant string) (string, error) {
	tasks := periodic.NewTasks(db.Tasks())
	id, err := FindTask(ctx, tasks, meant)
	if err != nil {
		return "", err
	}
	jobs, err := jobqueue.NewQueue(db.Jobs()).List(ctx, jobqueue.Filter{Tracker: id, Limit: 1})
	if err != nil {
		return "", err
	}
	if len(jobs) > 0 {
		return jobs[0].JID, nil
	}
	switch t, err := tasks.Get(ctx, id); {
	case err != nil:
		return "", err
	case t.Sink == periodic.SinkEvent:
		return "", fmt.Errorf("task %q makes events instead of jobs; see: nextrun event list --task %s", id, text.Word(id))
	case t.Sink != periodic.SinkJob:
		return "", fmt.Errorf("the jobs of task %q are in the queue %q; see: nextrun tick list --task %s", id, t.Sink, text.Word(id))
	}
	return "", fmt.Errorf("task %q has no job; to see why: nextrun why %s", id, text.Word(id))
}

// findAll finds what texts mean: all of it, before any of it is changed.
func findAll(texts []string, find func(text string) (string, error)) ([]string, error) {
	ids := make([]string, len(texts))
	for i, text := range texts {
		var err error
		if ids[i], err = find(text); err != nil {
			return nil, err
		}
	}
	return ids, nil
}
