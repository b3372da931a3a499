package dashboard

import (
	"context"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/ops/internal/why"
)

// shownRun is a run as pages show it: in a strip, in a list and on a page of its own.
type shownRun struct {
	Task     string    `json:"task,omitempty"` // empty: it is a job of no task
	Handler  string    `json:"handler,omitempty"`
	JID      string    `json:"jid,omitempty"`
	Due      time.Time `json:"due"`             // of a job of no tick, when it was submitted
	Until    time.Time `json:"until,omitzero"`  // of ticks that were left out together
	Times    int       `json:"times,omitempty"` // how many there are; -1: more than 10,000
	State    string    `json:"state"`           // of its job, otherwise its decision
	Began    time.Time `json:"began,omitzero"`  // the last attempt
	Took     string    `json:"took,omitempty"`
	Attempts int       `json:"attempts,omitempty"`
	Lost     int       `json:"interrupts,omitempty"` // how often its executor stopped, died or lost it: then it began anew
	Worker   string    `json:"worker,omitempty"`     // the name of the executor that has it, or had it last
	Silent   string    `json:"silent,omitempty"`     // how long ago that last gave a sign of life, if that is long
	Hand     string    `json:"by_hand,omitempty"`    // how somebody has asked for it
	Why      string    `json:"reason,omitempty"`     // why it did not run, or what it said at its end
	Own      bool      `json:"-"`                    // the page of that job exists
	Slow     string    `json:"-"`                    // how its duration differs from the usual one; empty: not much
	Late     string    `json:"-"`                    // when it began, if that was late
	Label    string    `json:"-"`                    // all of it in words
}

// run is a tick and what became of it.
func (s *source) run(k *view.Run, zone *time.Location) shownRun {
	r := shownRun{Task: k.TaskID, Due: k.Due, Until: k.Until, Times: k.Missed, State: k.Outcome(), Why: k.Why(), JID: k.JID, Own: k.Own(), Hand: k.Hand(),
		Attempts: k.Attempts, Lost: k.Interrupts, Began: k.Started, Took: took(k.Started, k.Finished), Worker: show.Printable(view.NameOf(k.Executor))}
	if r.Hand == r.Why {
		r.Why = "" // it is said once
	}
	if r.Why == "" && r.State != string(jobqueue.Success) {
		r.Why = s.mask.Line(k.Result)
	}
	r.Why = show.Shorten(text.Tails(show.Printable(r.Why)), 300)
	words := []string{show.Moment(k.Due, zone) + ": " + show.Word(r.State)}
	if k.Missed > 1 {
		words = append(words, count(k.Missed, "tick"))
	}
	if r.Took != "" {
		words = append(words, "took "+r.Took)
	}
	for _, said := range []string{r.Hand, show.Shorten(r.Why, 200)} {
		if said != "" {
			words = append(words, said)
		}
	}
	r.Label = strings.Join(words, ", ")
	return r
}

// job is a job of nextrun's own queue.
func (s *source) job(j *jobqueue.Job, services []view.Service) shownRun {
	r := shownRun{Task: j.Tracker, Handler: j.Task, JID: j.JID, Due: j.Due, State: string(j.State), Began: j.Started, Took: took(j.Started, j.Finished),
		Lost: j.Interrupts, Worker: show.Printable(view.NameOf(j.Worker)), Own: true}
	if !j.Started.IsZero() {
		r.Attempts = j.Retries
		if j.State != jobqueue.Waiting && j.State != jobqueue.Stuck { // as the view periodic_run counts
			r.Attempts++
		}
	}
	if j.Due.IsZero() {
		r.Due = j.Submitted
	}
	if j.State != jobqueue.Success {
		r.Why = show.Shorten(show.Printable(s.mask.Line(j.Result)), 300)
	}
	if j.State == jobqueue.Running {
		r.Silent = silent(j.Worker, services, time.Now())
	}
	return r
}

// silentLong is how long a worker may be silent before its jobs say so: it says every 2 s that it lives.
const silentLong = 10 * time.Second

// silent is how long ago a worker last gave a sign of life; empty: not long.
func silent(worker string, services []view.Service, now time.Time) string {
	for _, one := range services {
		if silence := now.Sub(one.Seen); one.Worker == worker && silence > silentLong {
			return text.Text(silence)
		}
	}
	return ""
}

// took is how long a run took; empty: it has not ended.
func took(started, finished time.Time) string {
	if started.IsZero() || finished.IsZero() {
		return ""
	}
	return round(finished.Sub(started))
}

// round writes a round duration.
func round(d time.Duration) string {
	if d < time.Second {
		return text.Exact(d)
	}
	return text.Text(d)
}

// whyView says what keeps a task from running, as `nextrun why` does.
type whyView struct {
	Findings []why.Finding `json:"findings"`
	Job      string        `json:"job,omitempty"`    // that failed last
	Output   []string      `json:"output,omitempty"` // the end of its log
}

// shownFindings are findings as a page shows them.
func (s *source) shownFindings(list []why.Finding) []why.Finding {
	shown := []why.Finding{}
	for _, f := range list {
		f.Text = show.Shorten(show.Printable(s.mask.Line(f.Text)), 500)
		shown = append(shown, f)
	}
	return shown
}

func (s *server) why(ctx context.Context, id string, zone *time.Location) (whyView, error) {
	f, err := why.Explain(ctx, s.db, s.queues, id)
	if err != nil {
		return whyView{}, err
	}
	d := whyView{Findings: s.shownFindings(f.Findings(zone))}
	if f.Failed != nil {
		d.Job = f.Failed.JID
	}
	for _, line := range f.Output {
		d.Output = append(d.Output, show.Shorten(show.Printable(s.mask.Line(line)), 500))
	}
	return d, nil
}
