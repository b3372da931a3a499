package why

import (
	"context"
	"slices"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Story is what became of the tick that a task had at a time, in the order in which it happened.
type Story struct {
	ID     string    `json:"id"` // of the task
	Asked  time.Time `json:"asked"`
	Due    time.Time `json:"due,omitzero"`      // of the tick; zero: there is none at that time, or near it
	Before time.Time `json:"previous,omitzero"` // the tick before it that is recorded
	After  time.Time `json:"next,omitzero"`     // the tick after it: one that is recorded, else the planned one
	State  string    `json:"state"`             // of the job or event, otherwise the decision; "none": there is no record
	Answer string    `json:"answer"`            // in words
	Steps  []Step    `json:"steps"`
	JID    string    `json:"jid,omitempty"` // the job or event that it became
	Output []string  `json:"output"`        // the end of the job's log
	Unread []string  `json:"unread"`        // what cannot be read, and why
	Run    *view.Run `json:"-"`

	task periodic.Task
	now  time.Time
	zone *time.Location
	job  *jobqueue.Job // in nextrun's own queue; nil: there is none any more
	why  []Finding     // why it has not ended
	way  *view.Run     // whose job had not ended when the tick was skipped; nil: nobody knows
}

// Step is a part of a story.
type Step struct {
	Name  string    `json:"step"`
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`             // From: it is a moment
	State string    `json:"state"`          // its colour: a state of jobs, or a decision
	Text  string    `json:"text,omitempty"` // what happened
}

// planned is the [Step.State] of what is to come.
const planned = "planned"

// Tell reads what became of the tick that a task had at a time: the one that is recorded
// for it, or the nearest one; of the zero time, the newest one. Words have times in the zone. It returns [store.ErrNotFound]
// for a task that does not exist.
func Tell(ctx context.Context, db *store.DB, id string, asked time.Time, zone *time.Location) (*Story, error) {
	s := &Story{ID: id, Asked: asked.UTC(), State: "none", zone: zone, Steps: []Step{}, Output: []string{}, Unread: []string{}}
	if err := s.read(ctx, db); err != nil {
		return nil, WithHolders(ctx, db, err)
	}
	s.Answer = s.answer()
	return s, nil
}

func (s *Story) read(ctx context.Context, db *store.DB) (err error) {
	tasks := periodic.NewTasks(db.Tasks())
	if s.task, err = tasks.Get(ctx, s.ID); err != nil {
		return err
	}
	if err := db.View(ctx, func(tx *store.Tx) error { s.now = tx.Now(); return nil }); err != nil {
		return err
	}
	list := func(f periodic.TickFilter) ([]view.Run, error) {
		f.TaskID, f.Limit = s.ID, 2
		return view.Of(db).List(ctx, tasks, f)
	}
	if err := s.find(list); err != nil || s.Run == nil {
		return err
	}
	if s.Run.Cause == periodic.CauseOverlap {
		before, err := list(periodic.TickFilter{Decision: periodic.Submitted, DueTo: s.Run.Due})
		if err != nil {
			return err
		}
		if len(before) > 0 && (before[0].Finished.IsZero() || before[0].Finished.After(s.Run.Decided)) {
			s.way = &before[0]
		}
	}
	return s.follow(ctx, db)
}

// find looks for the record of the time, and for the ticks beside it.
func (s *Story) find(list func(periodic.TickFilter) ([]view.Run, error)) error {
	if s.Asked.IsZero() {
		newest, err := list(periodic.TickFilter{})
		if s.Asked = s.now; len(newest) > 0 {
			s.Asked = newest[0].Due
		}
		if err != nil {
			return err
		}
	}
	until, err := list(periodic.TickFilter{DueTo: s.Asked.Add(time.Microsecond)})
	if err != nil {
		return err
	}
	later, err := list(periodic.TickFilter{DueFrom: s.Asked.Add(time.Microsecond), Oldest: true})
	slices.Reverse(until)
	s.choose(append(until, later...), len(until)-1)
	return err
}

// choose takes one of the records around the time, in their order: the last one up to it, or the first one after it.
func (s *Story) choose(list []view.Run, upto int) {
	due := func(i int) time.Time {
		if i < 0 || i >= len(list) {
			return time.Time{}
		}
		return list[i].Due
	}
	chosen, elapses := upto, s.task.HasTick(s.Asked)
	switch {
	case upto < 0:
	case !last(&list[upto]).Before(s.Asked):
	case s.Asked.After(s.now) || elapses: // a tick that has no record
		chosen = -1
	case upto+1 < len(list) && due(upto+1).Sub(s.Asked) < s.Asked.Sub(last(&list[upto])):
		chosen++
	}
	if s.Before, s.After = due(upto), due(upto+1); elapses {
		s.Due = s.Asked
	}
	if chosen >= 0 {
		s.Run, s.Due, s.Before, s.After = &list[chosen], due(chosen), due(chosen-1), due(chosen+1)
	}
	if s.After.IsZero() && s.task.Enabled {
		s.After = s.nextTick()
	}
}

// nextTick is the tick after the time: the planned one, or if that is not after it, one that is still to come.
func (s *Story) nextTick() time.Time {
	if due := s.task.Due; due.After(s.Asked) && due.Before(periodic.Never) {
		return due
	}
	coming, err := s.task.Upcoming(latest(s.Asked, s.now), 1)
	if err != nil || len(coming) == 0 {
		return time.Time{}
	}
	return coming[0].Due
}

// last is the last of the ticks that a record is for.
func last(k *view.Run) time.Time { return latest(k.Due, k.Until) }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
