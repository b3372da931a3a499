package dashboard

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// soonTask is a task whose turn comes soon.
type soonTask struct {
	ID  string    `json:"id"`
	Due time.Time `json:"due"`
}

// How many tasks that need attention are listed, and of those whose turn comes next.
const (
	troubledTasks = 20
	soonTasks     = 8
)

// next lists the tasks whose turn comes first.
func (s *source) next(ctx context.Context) ([]soonTask, error) {
	tasks, err := s.tasks.List(ctx, periodic.TaskFilter{State: periodic.TaskEnabled, DueBefore: periodic.Never, Limit: soonTasks, Slim: true})
	list := make([]soonTask, len(tasks))
	for i, t := range tasks {
		list[i] = soonTask{t.ID, t.NextRun}
	}
	return list, err
}
