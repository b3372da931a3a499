package find

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Task returns the id of the task that a text means: an id, or the beginning of
// just one.
func Task(ctx context.Context, tasks *periodic.Tasks, text string) (string, error) {
	_, err := tasks.Get(ctx, text)
	if err == nil || !errors.Is(err, store.ErrNotFound) {
		return text, err
	}
	list, listErr := tasks.List(ctx, periodic.TaskFilter{})
	if listErr != nil {
		return "", listErr
	}
	var begin, contain []string
	for _, t := range list {
		switch {
		case text != "" && strings.HasPrefix(t.ID, text):
			begin = append(begin, t.ID)
		case len(text) >= shortest && strings.Contains(strings.ToLower(t.ID), strings.ToLower(text)), text != "" && t.Task == text:
			contain = append(contain, t.ID)
		}
	}
	switch {
	case len(begin) == 1:
		return begin[0], nil
	case len(begin) > 1:
		return "", fmt.Errorf("task %q: several ids begin so: %s", text, some(begin))
	case len(contain) > 0:
		return "", fmt.Errorf("task %q: not found; did you mean %s?", text, some(contain))
	}
	// Not wrapped: callers add advice of their own to store.ErrNotFound.
	return "", fmt.Errorf("task %q: not found; see: nextrun task list", text)
}

// Asked is an error if a list is empty because there is no task with the id that was asked for, or
// none of the group; empty: it was not.
func Asked(ctx context.Context, tasks *periodic.Tasks, id, group string) error {
	if id != "" {
		meant, err := Task(ctx, tasks, id)
		if err == nil && meant != id {
			err = fmt.Errorf("task %q: not found; did you mean %s?", id, meant)
		}
		if err != nil {
			return err
		}
	}
	if group == "" {
		return nil
	}
	list, err := tasks.List(ctx, periodic.TaskFilter{Group: group, Limit: 1})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("no task of the group %q; see: nextrun task list", group)
	}
	return err
}

// shortest is the length of a text from which on ids are compared with it. One of one or two
// letters is like too many.
const shortest = 3

// some names a few ids.
func some(ids []string) string {
	const most = 5
	if len(ids) > most {
		return strings.Join(ids[:most], ", ") + " or another"
	}
	if len(ids) == 1 {
		return ids[0]
	}
	return strings.Join(ids[:len(ids)-1], ", ") + " or " + ids[len(ids)-1]
}
