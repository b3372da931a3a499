package why

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store"
)

// attempt is a run of the job, as its log tells.
type attempt struct {
	number, worker string
	from, to       time.Time // to: its last line, if the log does not say how it ended
	said           string    // how it ended; empty: the log does not say
	state          jobqueue.State
}

// The lines with which attempts begin and end in the log of a job; see jobqueue.Job.Begins
// and jobqueue/executor/internal/outcome.
var (
	begins = regexp.MustCompile(`^attempt (\d+) begins on (.+)$`)
	ends   = regexp.MustCompile(`^(failed(, to be tried again in [^:]+)?: |cancelled[:;] |put back: |interrupted: )`)
)

// Attempts tells the attempts of a job and the waits between them, as its story does. waits say what it waits for.
func Attempts(ctx context.Context, db *store.DB, j *jobqueue.Job, waits []Finding) ([]Step, error) {
	s := &Story{Due: j.Submitted, job: j, waits: waits}
	err := db.View(ctx, func(tx *store.Tx) error { s.now = tx.Now(); return nil })
	if err == nil && j.Attempt() > 1 { // of a single one, the row says enough
		err = eachLine(ctx, jobqueue.NewQueue(db.Jobs()), j.JID, s.hear)
	}
	s.ofJob()
	s.order()
	return s.Steps, err
}

// readAttempts reads the log of the job, and adds its attempts.
func (s *Story) readAttempts(ctx context.Context, db *store.DB) (err error) {
	if s.waits, err = OfJob(ctx, db, s.job, s.zone); err == nil {
		err = eachLine(ctx, jobqueue.NewQueue(db.Jobs()), s.job.JID, s.hear)
	}
	s.ofJob()
	return err
}

// hear finds the attempts in the log of the job.
func (s *Story) hear(l jobqueue.LogLine) {
	s.Output = append(s.Output, l.Message)
	s.Output = s.Output[max(0, len(s.Output)-storyLines):]
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

// ofJob are the job, its attempts, and the waits before and between them.
func (s *Story) ofJob() {
	j := s.job
	what := fmt.Sprintf("handler %s, group %s", j.Task, j.Group)
	if n := len(s.Steps); n > 0 && j.Submitted.Sub(s.Steps[n-1].From).Abs() < time.Millisecond { // with the decision, as usual
		s.Steps[n-1].Text += "; " + what
	} else {
		s.step("submitted", j.Submitted, j.Submitted, "scheduled", what)
	}
	if len(s.ran) == 0 && !j.Started.IsZero() { // the log has been deleted
		worker, _, _ := strings.Cut(j.Worker, service.BootMark)
		s.ran = []attempt{{number: fmt.Sprint(max(j.Attempt()-1, 1)), worker: worker, from: j.Started}}
	}
	for i := range s.ran {
		s.conclude(&s.ran[i], i+1 == len(s.ran))
	}
	since := latest(j.Submitted, s.Due) // when the job began to wait; zero: it is not known
	for first := 0; first < len(s.ran); {
		end := first + 1
		for end < len(s.ran) && s.ran[end].alike(&s.ran[first]) {
			end++
		}
		if end-first < leastAlike {
			end = first + 1
		}
		why := "until " + s.ran[first].worker + " took it"
		if first > 0 && strings.HasPrefix(s.ran[first-1].said, "failed") {
			why = "to be tried again, on " + s.ran[first].worker
		}
		if from := s.ran[first].from; !since.IsZero() && from.Sub(since) >= time.Millisecond {
			s.step("waited", since, from, string(jobqueue.Waiting), why)
		}
		s.tell(s.ran[first:end])
		first, since = end, s.ran[end-1].to
	}
	if n := len(s.ran); n > 0 {
		since = latest(since, s.ran[n-1].from)
	}
	if j.State == jobqueue.Waiting && !j.Retry.After(s.now) {
		s.step("waits", since, s.now, string(jobqueue.Waiting), "for an executor")
	}
	if j.State == jobqueue.Stuck || j.State == jobqueue.Waiting && len(s.ran) > 0 && j.Retry.After(s.now) {
		s.step("next attempt", j.Retry, j.Retry, planned, "planned")
	}
}

// tell adds the step of an attempt, or of several that failed alike.
func (s *Story) tell(ran []attempt) {
	a, last := &ran[0], &ran[len(ran)-1]
	name, text := "attempt "+a.number, "on "+a.worker+": "+a.said
	if len(ran) > 1 {
		_, why, _ := strings.Cut(last.said, ": ")
		name, text = "attempts "+a.number+" to "+last.number, fmt.Sprintf("%d attempts in a row failed with the same error: %s", len(ran), why)
	}
	s.step(name, a.from, last.to, string(last.state), text)
	step := &s.Steps[len(s.Steps)-1]
	for _, one := range ran {
		step.Parts = append(step.Parts, Part{one.from, latest(one.from, one.to)})
	}
}

// leastAlike is from how many attempts on that failed with the same error they are one step.
const leastAlike = 3

// alike reports whether two attempts failed with the same error.
func (a *attempt) alike(b *attempt) bool {
	_, why, _ := strings.Cut(a.said, ": ")
	_, other, _ := strings.Cut(b.said, ": ")
	return a.state == jobqueue.Failed && b.state == jobqueue.Failed && why == other
}

// conclude says how an attempt ended, or what else is known of it.
func (s *Story) conclude(a *attempt, last bool) {
	j := s.job
	if a.state = jobqueue.Stuck; strings.HasPrefix(a.said, "failed") {
		a.state = jobqueue.Failed
	}
	switch {
	case last && j.State == jobqueue.Running:
		a.to, a.state, a.said = s.now, j.State, "it runs"
		if len(s.waits) > 0 && s.waits[0].Code == "job_silent" {
			a.state, a.said = "overdue", "its worker gives no sign of life, and may have died"
		}
	case last && j.State.Final():
		a.to, a.state = cmp.Or(j.Finished, a.to), j.State
		if a.state == jobqueue.Success {
			a.said = "succeeded"
		}
		a.said = cmp.Or(a.said, j.State.Word())
		if result := firstLine(j.Result); result != "" && !strings.Contains(a.said, result) {
			a.said += ": " + result
		}
	case a.said == "" && !a.to.IsZero():
		a.said = "how it ended is not known: its last line came " + text.Exact(a.to.Sub(a.from)) + " after it began"
	case a.said == "":
		a.said = "how it ended is not known: the log has only its start"
	}
}
