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
		case text != "" && (strings.Contains(strings.ToLower(t.ID), strings.ToLower(text)) || t.Task == text):
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
	return "", fmt.Errorf("%w; see: nextrun task list", err)
}

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
