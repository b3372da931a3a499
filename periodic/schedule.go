package periodic

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nextrun/nextrun/jobqueue"
)

// Schedule is a task with the handler of its jobs, for a program that runs them itself.
// Make it with [NewSchedule], declare it with [Tasks.Apply].
type Schedule struct {
	Task    Task
	Handler jobqueue.Handler
	Limits  []jobqueue.Limits // of the handler, as executor.Executor.Register takes them
}

// NewSchedule returns an enabled task with the defaults of [NewTask], whose jobs a function
// runs. The function gets args as they are here, or as somebody has changed them in the row:
// they travel as JSON. The handler has the name of the task, which must differ from those of
// others in the program. NewSchedule panics if args cannot be written as JSON.
func NewSchedule[T any](id, timer string, args T, run func(ctx context.Context, job *jobqueue.JobContext, args T) error,
	limits ...jobqueue.Limits,
) Schedule {
	text, err := json.Marshal(args)
	if err != nil {
		panic(fmt.Sprintf("periodic: args of the schedule %s: %v", id, err))
	}
	task := NewTask(id, id, timer)
	task.Args = string(text)
	return Schedule{task, jobqueue.JSON(run), limits}
}

// With returns the schedule after a change of its task, such as of its overlap.
func (s Schedule) With(change func(*Task)) Schedule {
	change(&s.Task)
	return s
}

// Schedules are all that a program declares.
type Schedules []Schedule

// Tasks are the tasks, for [Apply].
func (list Schedules) Tasks() []Task {
	tasks := make([]Task, len(list))
	for i, s := range list {
		tasks[i] = s.Task
	}
	return tasks
}

// Register gives the handlers to an executor. Two schedules with the same handler name make
// it panic.
func (list Schedules) Register(to interface {
	Register(task string, h jobqueue.Handler, limits ...jobqueue.Limits)
}) {
	for _, s := range list {
		to.Register(s.Task.Task, s.Handler, s.Limits...)
	}
}
