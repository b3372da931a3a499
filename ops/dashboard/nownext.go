package dashboard

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// soonTask is a task that is due within the next hour.
type soonTask struct {
	ID      string    `json:"id"`
	Due     time.Time `json:"due"`
	Times   int       `json:"times"`             // in this hour
	Blocked string    `json:"blocked,omitempty"` // why its tick may not become a job
}

// hourView is what is due in the next hour.
type hourView struct {
	Ticks int        `json:"ticks"`
	Cut   bool       `json:"cut"` // there are more than were looked at
	Soon  []soonTask `json:"soon"`
	Later int        `json:"tasks_not_listed"`
	First *soonTask  `json:"first,omitempty"` // after this hour, if nothing is due in it
}

// troubledTasks is how many tasks that need attention are listed.
const troubledTasks = 20

// How much of the next hour is looked at, and listed.
const (
	hourTasks = 2000
	hourTicks = 50_000
	soonTasks = 8
)

// nextHour counts what is due in the next hour, and lists the tasks that come first.
func (s *source) nextHour(ctx context.Context, now time.Time) (h hourView, err error) {
	until := now.Add(time.Hour)
	tasks, err := s.tasks.List(ctx, periodic.TaskFilter{DueBefore: periodic.Never, Limit: hourTasks + 1})
	if err != nil {
		return h, err
	}
	if h.Cut = len(tasks) > hourTasks; h.Cut {
		tasks = tasks[:hourTasks]
	}
	h.Soon = []soonTask{}
	queues := s.db.Tasks().Queues(s.queues)
	for i := range tasks {
		t := &tasks[i]
		if t.Pause.At(later(t.NextRun, now)) {
			continue
		}
		one := soonTask{ID: t.ID, Due: t.NextRun, Blocked: t.Blocked()}
		if !t.NextRun.Before(until) { // so are all others
			if h.Ticks == 0 {
				h.First = &one
			}
			h.Cut = false
			break
		}
		for range periodic.Preview(tasks[i:i+1], now, until) {
			if one.Times++; h.Ticks+one.Times >= hourTicks {
				h.Cut = true
				break
			}
		}
		if h.Ticks += one.Times; len(h.Soon) == soonTasks {
			h.Later++
			continue
		}
		if _, known := queues[t.Sink]; !known && one.Blocked == "" {
			one.Blocked = (&periodic.SinkError{Sink: t.Sink}).Error()
		}
		h.Soon = append(h.Soon, one)
	}
	return h, nil
}
