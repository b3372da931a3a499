package why

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Story is what became of the tick that a task had at a time, in the order in which it
// happened.
type Story struct {
	ID     string // of the task
	Asked  time.Time
	Due    time.Time // of the tick; zero: there is none at that time, or near it
	Before time.Time // the tick before it that is recorded
	After  time.Time // the tick after it: one that is recorded, else the planned one
	State  string    // of the job or event, otherwise the decision; [None]: there is no record
	Answer string    // in words
	Steps  []Step
	JID    string   // the job or event that it became
	Output []string // the end of the job's log
	Unread []string // what cannot be read, and why
	Run    *view.Run
	Task   periodic.Task

	now   time.Time
	zone  *time.Location
	job   *jobqueue.Job
	event *outbox.Record
	ran   []attempt
	waits []Finding // what the job waits for
}

// HasJob reports whether the job is in nextrun's own queue.
func (s *Story) HasJob() bool { return s.job != nil }

// MarshalJSON writes the story for programs: what is not known is null.
func (s *Story) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		ID     string     `json:"id"`
		Asked  time.Time  `json:"asked"`
		Due    *time.Time `json:"due"`
		Before *time.Time `json:"previous"`
		After  *time.Time `json:"next"`
		State  string     `json:"state"`
		Answer string     `json:"answer"`
		Steps  []Step     `json:"steps"`
		JID    *string    `json:"jid"`
		Output []string   `json:"output"`
		Unread []string   `json:"unread"`
	}{s.ID, s.Asked, orNull(s.Due), orNull(s.Before), orNull(s.After), s.State, s.Answer, s.Steps, orNull(s.JID), s.Output, s.Unread})
}

func orNull[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}

// Step is a part of a story.
type Step struct {
	Name  string        `json:"step"`
	From  time.Time     `json:"from"`
	To    time.Time     `json:"to"`             // From: it is a moment
	Since time.Duration `json:"-"`              // since the step before; negative: it began before that one ended
	State string        `json:"state"`          // its colour: a state of jobs, or a decision
	Text  string        `json:"text,omitempty"` // what happened
	Parts []Part        `json:"-"`              // of several attempts

	before   string // the name of the step before
	together bool   // both began at the same moment
}

// Part is when an attempt of several began and ended.
type Part struct{ From, To time.Time }

// After says when a step began, from the step before it: "250 ms after it was due", "during attempt 1". It is empty for the
// first one, and for one that began at once.
func (s Step) After() string {
	before := cmp.Or(befores[s.before], s.before)
	switch {
	case before == "" || s.together || s.Since >= 0 && s.Since < time.Millisecond:
		return ""
	case s.Since < 0:
		return "during " + before
	}
	return text.Exact(s.Since) + " after " + before
}

// befores name steps before others, where their names are no nouns.
var befores = map[string]string{"due": "it was due", "decided": "the decision", "submitted": "it was submitted", "waited": "the wait", "waits": "the wait", "hook": "the hook",
	"written": "it was written", "published": "its delivery", "ended": "its end", "by hand": "that", "next attempt": "the next attempt"}

// MarshalJSON adds the times between the steps, in seconds.
func (s Step) MarshalJSON() ([]byte, error) {
	type plain Step
	return json.Marshal(struct {
		plain
		After float64 `json:"seconds_after"`
		Took  float64 `json:"seconds"`
	}{plain(s), s.Since.Seconds(), s.To.Sub(s.From).Seconds()})
}

// None is the [Story.State] of a tick without a record, and planned that of one to come.
const (
	None    = "none"
	planned = "planned"
)

// Tell reads what became of the tick that a task had at a time: the one that is recorded
// for it, or the nearest one; of the zero time, the newest one. Words have times in the zone. It returns [store.ErrNotFound]
// for a task that does not exist.
func Tell(ctx context.Context, db *store.DB, id string, asked time.Time, zone *time.Location) (*Story, error) {
	s := &Story{ID: id, Asked: asked.UTC(), State: None, zone: zone, Steps: []Step{}, Output: []string{}, Unread: []string{}}
	tasks := periodic.NewTasks(db.Tasks())
	var err error
	if s.Task, err = tasks.Get(ctx, id); err == nil {
		err = db.View(ctx, func(tx *store.Tx) error { s.now = tx.Now(); return nil })
	}
	if err == nil {
		err = s.find(ctx, db, tasks)
	}
	if err == nil && s.Run != nil {
		err = s.follow(ctx, db)
	}
	if err != nil {
		return nil, WithHolders(ctx, db, err)
	}
	s.order()
	s.answer()
	return s, nil
}

// find looks for the record of the time, and for the ticks beside it.
func (s *Story) find(ctx context.Context, db *store.DB, tasks *periodic.Tasks) error {
	read := view.Of(db)
	if s.Asked.IsZero() {
		newest, err := read.List(ctx, tasks, periodic.TickFilter{TaskID: s.ID, Limit: 1})
		if s.Asked = s.now; len(newest) > 0 {
			s.Asked = newest[0].Due
		}
		if err != nil {
			return err
		}
	}
	until, err := read.List(ctx, tasks, periodic.TickFilter{TaskID: s.ID, DueTo: s.Asked.Add(time.Microsecond), Limit: 2})
	if err != nil {
		return err
	}
	later, err := read.List(ctx, tasks, periodic.TickFilter{TaskID: s.ID, DueFrom: s.Asked.Add(time.Microsecond), Oldest: true, Limit: 2})
	if err != nil {
		return err
	}
	s.choose(until, later)
	return nil
}

// choose takes one of the records up to the time, newest first, or of those after it.
func (s *Story) choose(until, later []view.Run) {
	if len(until) > 0 {
		s.Before = until[0].Due
	}
	switch {
	case len(until) > 0 && !last(until[0]).Before(s.Asked):
		s.Run = &until[0]
	case s.Asked.After(s.now), s.elapses(s.Asked), len(until) == 0: // a tick that has no record, or none
	case len(later) > 0 && later[0].Due.Sub(s.Asked) < s.Asked.Sub(last(until[0])):
		s.Run, later = &later[0], later[1:]
	default:
		s.Run = &until[0]
	}
	switch {
	case s.Run == nil:
	case s.Run.Due.After(s.Asked):
		s.Due = s.Run.Due
	default:
		s.Due, s.Before = s.Run.Due, time.Time{}
		if len(until) > 1 {
			s.Before = until[1].Due
		}
	}
	if s.Run == nil && s.elapses(s.Asked) {
		s.Due = s.Asked
	}
	if len(later) > 0 {
		s.After = later[0].Due
	} else if coming, err := s.Task.Upcoming(latest(s.Asked, s.now), 1); err == nil && len(coming) > 0 && s.Task.Enabled {
		s.After = coming[0].Due
	}
}

// last is the last of the ticks that a record is for.
func last(k view.Run) time.Time { return latest(k.Due, k.Until) }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// elapses reports whether the timer that the task has now elapses at a time.
func (s *Story) elapses(at time.Time) bool {
	next, err := s.Task.Upcoming(at.Add(-time.Microsecond), 1)
	return err == nil && len(next) > 0 && next[0].Due.Equal(at)
}

// follow reads what became of the tick after it was decided.
func (s *Story) follow(ctx context.Context, db *store.DB) error {
	s.JID, s.State = s.Run.JID, s.Run.Outcome()
	s.ofTick()
	for _, part := range []struct {
		what string
		read func() error
	}{
		{"its job", func() error { return s.readJob(ctx, db) }},
		{"its hooks", func() error { return s.readHooks(ctx, db) }},
	} {
		unread, err := partOf(part.what, part.read())
		if err != nil {
			return err
		}
		s.Unread = append(s.Unread, unread...)
	}
	return nil
}

// readJob reads the job or the event that the tick became.
func (s *Story) readJob(ctx context.Context, db *store.DB) error {
	if s.JID == "" {
		return nil
	}
	if s.Task.Sink == periodic.SinkEvent {
		r, err := db.Outbox().Show(ctx, s.JID)
		if err == nil {
			s.event = &r
			s.ofEvent()
		}
		return unlessGone(err)
	}
	j, err := jobqueue.NewQueue(db.Jobs()).Get(ctx, s.JID)
	if err != nil {
		return unlessGone(err)
	}
	s.job, s.State = &j, string(j.State)
	return s.readAttempts(ctx, db)
}

// storyLines is how much of the end of a log a story has.
const storyLines = 20

// unlessGone is an error, unless it says that something or its table is not there.
func unlessGone(err error) error {
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrNoSchema) {
		return nil
	}
	return err
}
