package diagnosis

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/figures"
	"github.com/nextrun/nextrun/internal/hookbook"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/store"
)

func (s *Story) step(name string, from, to time.Time, state, text string) {
	if from.IsZero() {
		return
	}
	s.Steps = append(s.Steps, Step{Name: name, From: from, To: latest(from, to), State: state, Text: text})
}

// order sorts the steps by time, and says how long each is after the one before.
func (s *Story) order() {
	slices.SortStableFunc(s.Steps, func(a, b Step) int { return a.From.Compare(b.From) })
	for i := 1; i < len(s.Steps); i++ {
		s.Steps[i].Since = s.Steps[i].From.Sub(s.Steps[i-1].To)
	}
}

// ofTick are the time of the tick and its decision.
func (s *Story) ofTick() {
	k, due := s.Tick, "timer "+s.Task.Timer
	switch next, err := s.Task.Upcoming(k.Due.Add(-time.Microsecond), 1); {
	case k.Missed > 1:
		due = fmt.Sprintf("the first of %d ticks until %s that were missed together", k.Missed, s.at(k.Until))
	case k.Missed < 0:
		due = fmt.Sprintf("the first of more than 10,000 ticks until %s that were missed together", s.at(k.Until))
	case err != nil || len(next) == 0 || !next[0].Due.Equal(k.Due):
		due = "not a time of the timer that the task has now: it was run by hand, or the timer was another one"
	case next[0].NextRun.After(k.Due):
		due += ", and its jitter delays it by " + span.Exact(next[0].NextRun.Sub(k.Due))
	}
	s.step("due", k.Due, k.Due, planned, due)
	decided := string(k.Decision)
	if k.Reason != "" {
		decided += ": " + k.Reason
	}
	if k.Worker != "" {
		decided += ", by the scheduler " + k.Worker
	}
	s.step("decided", k.Decided, k.Decided, string(k.Decision), decided)
	if k.Ended != "" {
		s.step("ended", k.Finished, k.Finished, k.Result().State, "its job "+s.ended())
	}
}

// attempt is a run of the job, as its log tells.
type attempt struct {
	number, worker string
	from, to       time.Time
	said           string // how it ended; empty: the log does not say
}

// The lines with which attempts begin and end in the log of a job; see jobqueue.Job.Begins
// and jobqueue/executor/internal/outcome.
var (
	begins = regexp.MustCompile(`^attempt (\d+) begins on (.+)$`)
	ends   = regexp.MustCompile(`^(failed(, to be tried again in [^:]+)?: |cancelled[:;] |put back: |interrupted: )`)
)

// hear finds the attempts in the log of the job.
func (s *Story) hear(l jobqueue.LogLine) {
	if m := begins.FindStringSubmatch(l.Message); m != nil {
		worker, _, _ := strings.Cut(m[2], service.BootMark)
		s.ran = append(s.ran, attempt{number: m[1], worker: worker, from: l.Created})
		return
	}
	if n := len(s.ran); n > 0 {
		s.ran[n-1].to = l.Created
		if s.ran[n-1].said = ""; ends.MatchString(l.Message) {
			s.ran[n-1].said = firstLine(l.Message)
		}
	}
}

// ofJob are the job and its attempts.
func (s *Story) ofJob() {
	j := s.job
	s.step("submitted", j.Submitted, j.Submitted, "scheduled", fmt.Sprintf("handler %s, group %s", j.Task, j.Group))
	if len(s.ran) == 0 && !j.Started.IsZero() { // the log has been deleted
		s.ran = []attempt{{number: fmt.Sprint(max(j.Attempt()-1, 1)), worker: j.Worker, from: j.Started}}
	}
	if len(s.ran) > 0 {
		s.step("waited", latest(j.Submitted, s.Due), s.ran[0].from, string(jobqueue.Waiting), "until "+s.ran[0].worker+" claimed it")
	} else if j.State == jobqueue.Waiting {
		s.step("waits", latest(j.Submitted, s.Due), s.now, string(jobqueue.Waiting), "")
	}
	for i, a := range s.ran {
		state, said := jobqueue.Stuck, a.said
		if strings.HasPrefix(said, "failed") {
			state = jobqueue.Failed
		}
		if i+1 == len(s.ran) {
			state = j.State
			switch {
			case !j.Finished.IsZero():
				a.to = j.Finished
			case j.State == jobqueue.Running:
				a.to, said = s.now, "runs"
			}
			if state == jobqueue.Success {
				said = "succeeded"
			}
			if result := firstLine(j.Result); result != "" && state.Final() && !strings.Contains(said, result) {
				said = strings.TrimPrefix(said+": "+result, ": ")
			}
		}
		s.step("attempt "+a.number, a.from, a.to, string(state), strings.TrimSuffix("on "+a.worker+": "+said, ": "))
	}
	if j.State == jobqueue.Stuck || j.State == jobqueue.Waiting && len(s.ran) > 0 && j.Retry.After(s.now) {
		s.step("next attempt", j.Retry, j.Retry, planned, "")
	}
}

// firstLine is the first line of what somebody said, unless that is very long.
func firstLine(said string) string {
	first, _, _ := strings.Cut(said, "\n")
	return text.Clean(first, 500)
}

// ofEvent are the event and its delivery.
func (s *Story) ofEvent() {
	r := s.event
	s.State = string(r.Status)
	s.step("written", r.Created, r.Created, "scheduled", "type "+r.Type)
	s.delivery("published", "topic "+r.Topic, r)
}

// delivery is what became of an event.
func (s *Story) delivery(name, what string, r *outbox.Record) {
	to, how := s.now, "not delivered yet"
	switch {
	case !r.Published.IsZero():
		to, how = r.Published, "delivered"
	case !r.Dead.IsZero():
		to, how = r.Dead, "given up"
	case r.Status == outbox.Gone:
		to, how = r.Created, "delivered or given up; its message has been deleted"
	}
	if r.Attempts > 0 {
		how += fmt.Sprintf(", failed attempts: %d", r.Attempts)
	}
	if r.Problem != "" && r.Published.IsZero() {
		how += ": " + firstLine(r.Problem)
	}
	s.step(name, r.Created, to, string(r.Status), what+": "+how)
}

// shownActions is how many actions of people a story has.
const shownActions = 20

func (s *Story) readPeople(ctx context.Context, db *store.DB) error {
	if s.JID == "" {
		return nil
	}
	actions, err := figures.Of(db).Actions(ctx, "", s.JID, shownActions)
	for _, a := range actions {
		s.step("by hand", a.At, a.At, planned, a.Who+": "+strings.TrimSpace(a.Action+" "+a.Detail))
	}
	return err
}

// hookSpan is how long after the end of a job its hooks are looked for. They are written in
// the transaction that ends it.
const hookSpan = 5 * time.Second

// readHooks finds the events of hooks that are about the tick.
func (s *Story) readHooks(ctx context.Context, db *store.DB) error {
	end := s.now
	if s.job != nil && !s.job.Finished.IsZero() {
		end = s.job.Finished
	} else if s.JID == "" {
		end = s.Tick.Decided
	}
	handlers := []string{s.Task.Task}
	if s.job != nil {
		handlers[0] = s.job.Task
	}
	for _, topic := range hookbook.Topics(handlers[0], s.ID) {
		list, err := db.Outbox().List(ctx, outbox.Filter{Topic: topic, Since: s.Tick.Decided.Add(-hookSpan), Until: end.Add(hookSpan), WithPayload: true})
		if err != nil {
			return unlessGone(err)
		}
		for i := range list {
			var n hooks.Notice
			if json.Unmarshal([]byte(list[i].Payload), &n) != nil || !s.isOf(&n) {
				continue
			}
			s.delivery("hook", n.Hook+" ("+string(n.Event)+")", &list[i])
		}
	}
	return nil
}

// isOf reports whether a notice is about the tick.
func (s *Story) isOf(n *hooks.Notice) bool {
	if n.Job != nil {
		return n.Job.ID == s.JID
	}
	return n.Tick != nil && n.Tick.Due.Equal(s.Tick.Due)
}

func (s *Story) at(t time.Time) string { return t.In(s.zone).Format("2006-01-02 15:04:05 MST") }
