package simulate

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/simulate"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store"
)

// present tells a simulation that begins now which jobs have not ended, and which ticks
// wait. It returns the tasks whose queue it cannot ask.
func present(ctx context.Context, db *store.DB, queues ui.Queues, tasks []periodic.Task, s *simulate.Options) (unseen []string, err error) {
	manager := periodic.NewTasks(db.Tasks()).With(queues)
	ticks, err := manager.Ticks(ctx, periodic.TickFilter{Decision: periodic.Queued, Limit: lookAt})
	if err != nil {
		return nil, err
	}
	s.Queued = map[string][]time.Time{}
	for _, k := range ticks {
		s.Queued[k.TaskID] = append(s.Queued[k.TaskID], k.Due)
	}
	for _, due := range s.Queued {
		slices.SortFunc(due, time.Time.Compare)
	}
	open, err := unfinished(ctx, db)
	if err != nil {
		return nil, err
	}
	s.Open = map[string][]simulate.Open{}
	for i := range tasks {
		t := &tasks[i]
		if t.Sink != periodic.SinkJob && t.Sink != periodic.SinkEvent {
			var unknown *periodic.SinkError
			p, err := manager.Pending(ctx, t.ID)
			switch {
			case errors.As(err, &unknown):
				unseen = append(unseen, t.ID)
			case err != nil:
				return nil, err
			case p != nil:
				open[t.ID] = append(open[t.ID], simulate.Open{Pending: *p, Begins: p.Started})
			}
		}
		for _, o := range open[t.ID] {
			if waits := o.State == jobqueue.Waiting || o.State == jobqueue.Stuck; o.Begins.IsZero() || waits && o.Begins.Before(s.From) {
				o.Begins = s.From
			}
			o.Ends = o.Begins.Add(max(s.Takes(t, s.From), 0))
			s.Open[t.ID] = append(s.Open[t.ID], o)
		}
	}
	return unseen, nil
}

// unfinished reads the jobs of nextrun's own queue that have not ended, by their tasks, those
// submitted last at the end.
func unfinished(ctx context.Context, db *store.DB) (map[string][]simulate.Open, error) {
	jobs, err := jobqueue.NewQueue(db.Jobs()).List(ctx, jobqueue.Filter{Limit: lookAt,
		States: []jobqueue.State{jobqueue.Waiting, jobqueue.Scheduled, jobqueue.Running, jobqueue.Stuck}})
	if err != nil && !errors.Is(err, store.ErrNoJobs) {
		return nil, err
	}
	open := map[string][]simulate.Open{}
	for _, j := range slices.Backward(jobs) {
		o := simulate.Open{Pending: sink.Pending{JID: j.JID, State: j.State, Due: j.Due, Started: j.Started}, Begins: j.Started}
		if j.State == jobqueue.Waiting || j.State == jobqueue.Stuck {
			o.Begins = j.Retry
		}
		open[j.Tracker] = append(open[j.Tracker], o)
	}
	return open, nil
}
