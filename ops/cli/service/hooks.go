package service

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/ops/docspell"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// buildHooks returns the hooks of the configuration, nil if there are none.
func (s *services) buildHooks(ctx context.Context) (*store.Hooks, error) {
	made, err := s.config.BuildHooks()
	if err != nil || !made.Any() {
		return nil, err
	}
	if err := docspell.In(s.db).RefuseHooks(ctx); err != nil {
		return nil, err
	}
	if err := refuseCircles(ctx, made, periodic.NewTasks(s.db.Tasks())); err != nil {
		return nil, err
	}
	return s.db.Hooks(made, s.queues)
}

// refuseCircles returns an error about hooks by which tasks submit each other in a circle.
func refuseCircles(ctx context.Context, all hooks.Hooks, tasks *periodic.Tasks) error {
	if !slices.ContainsFunc(all.List(), func(one hooks.Hook) bool { return one.Action.Submit != "" }) {
		return nil
	}
	list, err := tasks.List(ctx, periodic.TaskFilter{})
	if err != nil {
		return err
	}
	next := map[string][]string{}
	for i := range list {
		for _, kind := range hooks.Kinds() {
			if one, ok := all.Of(kind, list[i].Task, list[i].ID); ok && one.Action.Submit != "" {
				next[list[i].ID] = append(next[list[i].ID], one.Action.Submit)
			}
		}
	}
	for i := range list {
		if circle := circleFrom(next, []string{list[i].ID}, map[string]bool{}); circle != nil {
			return fmt.Errorf("by their hooks the tasks %s submit each other in a circle, without end; take one of these hooks out",
				strings.Join(append(circle, list[i].ID), " > "))
		}
	}
	return nil
}

// circleFrom is a way along next from the first task of a way back to it, or nil. From
// the tasks in seen there is none.
func circleFrom(next map[string][]string, way []string, seen map[string]bool) []string {
	for _, id := range next[way[len(way)-1]] {
		if id == way[0] {
			return way
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		if circle := circleFrom(next, append(slices.Clip(way), id), seen); circle != nil {
			return circle
		}
	}
	return nil
}
