package why

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/hooks"
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
	State  string    `json:"state"`             // of the job or event, otherwise the decision; [None]: there is no record
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
	if s.task, err = tasks.Get(ctx, id); err == nil {
		err = db.View(ctx, func(tx *store.Tx) error { s.now = tx.Now(); return nil })
	}
	if err == nil {
		err = s.find(ctx, db, tasks)
	}
	if err == nil && s.Run != nil {
		err = s.inTheWay(ctx, db, tasks)
	}
	if err == nil && s.Run != nil {
		err = s.follow(ctx, db)
	}
	if err != nil {
		return nil, WithHolders(ctx, db, err)
	}
	s.Answer = s.answer()
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
	s.choose(until, later)
	return err
}

// choose takes one of the records up to the time, newest first, or of those after it.
func (s *Story) choose(until, later []view.Run) {
	elapses := s.elapses(s.Asked)
	switch {
	case len(until) == 0:
	case !last(&until[0]).Before(s.Asked):
		s.Run = &until[0]
	case s.Asked.After(s.now) || elapses: // a tick that has no record
	case len(later) > 0 && later[0].Due.Sub(s.Asked) < s.Asked.Sub(last(&until[0])):
		s.Run = &later[0]
	default:
		s.Run = &until[0]
	}
	middle := s.Asked
	if s.Run != nil {
		s.Due, middle = s.Run.Due, s.Run.Due
	} else if elapses {
		s.Due = s.Asked
	}
	for _, k := range append(until, later...) {
		switch {
		case k.Due.Before(middle):
			s.Before = latest(s.Before, k.Due)
		case k.Due.After(middle) && (s.After.IsZero() || k.Due.Before(s.After)):
			s.After = k.Due
		}
	}
	if coming, err := s.task.Upcoming(latest(s.Asked, s.now), 1); s.After.IsZero() && err == nil && len(coming) > 0 && s.task.Enabled {
		s.After = coming[0].Due
	}
}

// last is the last of the ticks that a record is for.
func last(k *view.Run) time.Time { return latest(k.Due, k.Until) }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// elapses reports whether the timer that the task has now elapses at a time.
func (s *Story) elapses(at time.Time) bool {
	next, err := s.task.Upcoming(at.Add(-time.Microsecond), 1)
	return err == nil && len(next) > 0 && next[0].Due.Equal(at)
}

// inTheWay finds the run whose job had not ended when the tick was skipped.
func (s *Story) inTheWay(ctx context.Context, db *store.DB, tasks *periodic.Tasks) error {
	if s.Run.Cause != periodic.CauseOverlap {
		return nil
	}
	list, err := view.Of(db).List(ctx, tasks, periodic.TickFilter{TaskID: s.ID, Decision: periodic.Submitted, DueTo: s.Run.Due, Limit: 1})
	if len(list) > 0 && (list[0].Finished.IsZero() || list[0].Finished.After(s.Run.Decided)) {
		s.way = &list[0]
	}
	return err
}

// follow reads what became of the tick after it was decided.
func (s *Story) follow(ctx context.Context, db *store.DB) error {
	k := s.Run
	s.JID, s.State = k.JID, k.Outcome()
	s.step("due", k.Due, k.Due, planned, s.due())
	decided := strings.TrimSuffix(string(k.Decision)+": "+k.Why(), ": ")
	if k.Cause == periodic.CauseHook {
		decided = k.Reason
	}
	if worker, _, _ := strings.Cut(k.Worker, service.BootMark); worker != "" {
		decided += ", by the scheduler " + worker
	}
	s.step("decided", k.Decided, k.Decided, string(k.Decision), decided)
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

// step adds a step, unless nobody knows when it was.
func (s *Story) step(name string, from, to time.Time, state, text string) {
	if !from.IsZero() {
		s.Steps = append(s.Steps, Step{name, from, latest(from, to), state, text})
	}
}

// readJob reads the job of the tick, if it is in nextrun's own queue. Of others, and of events, the tick knows the end.
func (s *Story) readJob(ctx context.Context, db *store.DB) error {
	k := s.Run
	if !k.Own() {
		switch {
		case s.task.Sink == periodic.SinkEvent && k.State == "pending":
			s.step("published", k.Decided, s.now, k.State, s.ended())
		case k.State != "":
			s.step("ended", k.Finished, k.Finished, k.State, s.ended())
		}
		return nil
	}
	j, err := jobqueue.NewQueue(db.Jobs()).Get(ctx, k.JID)
	if err != nil {
		return err
	}
	if s.job = &j; !j.State.Final() {
		s.why, err = OfJob(ctx, db, &j, s.zone)
	}
	s.ofJob()
	if err == nil {
		s.Output, err = endOfLog(ctx, db, k.JID, storyLines)
	}
	return err
}

// storyLines is how much of the end of a log a story has.
const storyLines = 20

// ofJob are the job, the wait before its first attempt, and its last attempt: the log has the others.
func (s *Story) ofJob() {
	j, k := s.job, s.Run
	worker, _, _ := strings.Cut(j.Worker, service.BootMark)
	what := "handler " + j.Task + ", group " + j.Group
	if j.Submitted.Sub(k.Decided).Abs() < time.Millisecond { // in one transaction, as usual
		s.Steps[len(s.Steps)-1].Text += "; " + what
	} else {
		s.step("submitted", j.Submitted, j.Submitted, string(jobqueue.Scheduled), what)
	}
	began := j.Started
	if began.IsZero() {
		began = s.now
	}
	if from := latest(j.Submitted, k.Due); k.Attempts <= 1 && k.Interrupts == 0 && began.Sub(from) >= time.Millisecond {
		s.step("waited", from, began, string(jobqueue.Waiting), "for an executor")
	}
	ended, said := j.Finished, "on "+worker+": "+strings.TrimSuffix(j.State.Word()+": "+text.Clean(text.FirstLine(j.Result), 500), ": ")
	if j.State == jobqueue.Running {
		ended = s.now
	}
	s.step("attempt "+strconv.Itoa(max(k.Attempts, 1)), j.Started, ended, string(j.State), strings.TrimPrefix(said, "on : "))
	if j.State == jobqueue.Stuck {
		s.step("next attempt", j.Retry, j.Retry, planned, "")
	}
}

// hookSpan is how long after the end of a job its hooks are looked for. They are written in
// the transaction that ends it.
const hookSpan = 5 * time.Second

// readHooks finds the jobs of hooks that are about the tick.
func (s *Story) readHooks(ctx context.Context, db *store.DB) error {
	until := s.now
	if k := s.Run; !k.Finished.IsZero() {
		until = k.Finished
	} else if s.JID == "" {
		until = k.Decided
	}
	list, err := hookJobs(ctx, db, jobqueue.Filter{Since: s.Run.Decided.Add(-hookSpan), Until: until.Add(hookSpan)}, func(n *hooks.Notice) bool {
		return n.Job != nil && n.Job.ID == s.JID || n.Job == nil && n.Tick != nil && n.Tick.Due.Equal(s.Run.Due)
	})
	if errors.Is(err, store.ErrNoSchema) {
		return nil
	}
	for _, h := range list {
		to, said := h.job.Finished, h.notice.Hook+" ("+string(h.notice.Event)+"): "+h.job.State.Word()
		if !h.job.State.Final() {
			to = s.now
		}
		if h.job.Retries > 0 {
			said += ", failed attempts: " + strconv.Itoa(h.job.Retries)
		}
		if h.job.State != jobqueue.Success {
			said += strings.TrimSuffix(": "+text.Clean(text.FirstLine(h.job.Result), 500), ": ")
		}
		s.step("hook", h.job.Submitted, to, h.job.State.Word(), said)
	}
	return err
}
