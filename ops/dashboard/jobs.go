package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/ops/internal/why"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// jobsPerPage and logLines bound what a page shows.
const (
	jobsPerPage = 100
	logLines    = 500
)

// jobList is the page of jobs.
type jobList struct {
	State   string   `json:"state,omitempty"`
	Group   string   `json:"group,omitempty"`
	Handler string   `json:"handler,omitempty"`
	Task    string   `json:"task,omitempty"`
	Ended   string   `json:"ended_in_the_last,omitempty"` // empty: whenever, or not yet
	Jobs    []jobRow `json:"jobs"`
	States  []string `json:"-"`
	paged

	Counts []stateCount `json:"counts"` // of those that have not ended
	Others []otherQueue `json:"other_queues,omitempty"`
	Open   int          `json:"jobs_open_in_other_queues"`
}

// endedLately are the times in which the jobs of a list ended.
var endedLately = []lastTime{{"hour", time.Hour}, {"24 hours", 24 * time.Hour}}

// paged is a page of a list.
type paged struct {
	Page int  `json:"page"`
	More bool `json:"more"` // there is another one
}

// mostPages is how far back a list goes: a page costs as much as all before it.
const mostPages = 50

func pageOf(r *http.Request) paged {
	n, _ := strconv.Atoi(r.URL.Query().Get("page"))
	return paged{Page: min(max(n, 1), mostPages)}
}

// cut leaves those of a list that are on the page of so many.
func cut[T any](p *paged, list []T, of int) []T {
	p.More = len(list) > p.Page*of && p.Page < mostPages
	return list[min((p.Page-1)*of, len(list)):min(p.Page*of, len(list))]
}

type stateCount struct {
	State string `json:"state"`
	Jobs  int    `json:"jobs"`
}

// jobRow is a job.
type jobRow struct {
	JID       string    `json:"jid"`
	Handler   string    `json:"handler"`
	Group     string    `json:"group"`
	Task      string    `json:"task,omitempty"`
	Subject   string    `json:"subject,omitempty"`
	State     string    `json:"state"`
	Due       time.Time `json:"due,omitzero"` // of its tick
	Submitted time.Time `json:"submitted"`
	Started   time.Time `json:"started,omitzero"`
	Finished  time.Time `json:"finished,omitzero"`
	Took      string    `json:"took,omitempty"`
	Retries   int       `json:"retries"`
	Progress  int       `json:"progress"`
	Worker    string    `json:"worker,omitempty"`
	Result    string    `json:"result,omitempty"`
	Hand      string    `json:"by_hand,omitempty"` // how somebody has asked for it
	Silent    string    `json:"silent,omitempty"`  // how long ago its worker last gave a sign of life, if that is long
}

// silentLong is how long a worker may be silent before the list of its jobs says so: it says every 2 s that it lives.
const silentLong = 10 * time.Second

func (s *server) jobRow(j jobqueue.Job) jobRow {
	r := jobRow{JID: j.JID, Handler: j.Task, Group: j.Group, Task: j.Tracker, Subject: j.Subject, State: string(j.State),
		Due: j.Due, Submitted: j.Submitted, Started: j.Started, Finished: j.Finished, Retries: j.Retries, Progress: j.Progress,
		Worker: j.Worker, Result: show.Shorten(show.Printable(s.mask.Line(j.Result)), show.MostArgs)}
	if !j.Started.IsZero() && !j.Finished.IsZero() {
		r.Took = text.Exact(j.Finished.Sub(j.Started))
	}
	return r
}

// tellSilent says of running jobs that their workers have been silent for long.
func (s *server) tellSilent(ctx context.Context, jobs []jobRow) error {
	services, err := view.Of(s.db).Services(ctx)
	for _, one := range services {
		for i, j := range jobs {
			if silence := s.now().Sub(one.Seen); j.Worker == one.Worker && j.State == string(jobqueue.Running) && silence > silentLong {
				jobs[i].Silent = text.Text(silence)
			}
		}
	}
	return err
}

func (s *server) jobsPage(ctx context.Context, r *http.Request) (any, error) {
	q := r.URL.Query()
	d := jobList{paged: pageOf(r), State: string(jobqueue.StateOf(q.Get("state"))), Group: q.Get("group"), Handler: q.Get("handler"), Task: q.Get("task"), States: []string{""}, Jobs: []jobRow{}}
	for _, state := range jobqueue.States() {
		d.States = append(d.States, string(state))
	}
	filter := jobqueue.Filter{Group: d.Group, Task: d.Handler, Tracker: d.Task, Limit: d.Page*jobsPerPage + 1}
	if i := slices.IndexFunc(endedLately, func(one lastTime) bool { return one.name == q.Get("ended") }); i >= 0 {
		d.Ended, filter.Ended = q.Get("ended"), s.now().Add(-endedLately[i].long)
	}
	if d.State != "" {
		filter.States = []jobqueue.State{jobqueue.State(d.State)}
	}
	jobs, err := s.queue.List(ctx, filter)
	if err != nil {
		return nil, err
	}
	jobs = cut(&d.paged, jobs, jobsPerPage)
	ticks := make([]periodic.TickKey, len(jobs))
	for i, j := range jobs {
		d.Jobs, ticks[i] = append(d.Jobs, s.jobRow(j)), periodic.TickKey{TaskID: j.Tracker, Due: j.Due}
	}
	runs, err := view.Of(s.db).Of(ctx, ticks)
	for i := range d.Jobs {
		if at := slices.IndexFunc(runs, func(r view.Run) bool { return r.JID == d.Jobs[i].JID }); at >= 0 {
			d.Jobs[i].Hand = runs[at].Hand()
		}
	}
	return d, cmp.Or(err, s.tellSilent(ctx, d.Jobs), d.count(ctx, s))
}

// count counts the jobs in each state that is not final.
func (d *jobList) count(ctx context.Context, s *server) error {
	t, err := view.Of(s.db).Totals(ctx)
	if err != nil {
		return err
	}
	d.Others, d.Open = s.others(t)
	for _, state := range jobqueue.States() {
		d.Counts = append(d.Counts, stateCount{string(state), t.Jobs[state]})
	}
	return nil
}

// jobView is the page of a job.
type jobView struct {
	Job      jobRow        `json:"job"`
	Findings []why.Finding `json:"findings"` // why it waits, if it does
	Args     string        `json:"args"`
	Unusual  string        `json:"-"` // how its duration differs from that of others of its task; empty: not much
	Lines    []logLine     `json:"log"`
	More     bool          `json:"more"` // there are more lines, or some after After
	After    int64         `json:"after,omitempty"`
	Next     int64         `json:"next,omitempty"`
	Can      []string      `json:"-"` // what may be done with it
}

type logLine struct {
	At      time.Time `json:"at"`
	Level   string    `json:"level"`
	Message string    `json:"message"`
}

func (s *server) jobPage(ctx context.Context, r *http.Request) (any, error) {
	q := r.URL.Query()
	id := q.Get("id")
	if id == "" {
		return nil, frame.Bad("which job? Add ?id=ID to the address")
	}
	j, err := s.queue.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	d := jobView{Job: s.jobRow(j), Args: s.mask.Args(j.Args), Lines: []logLine{}}
	findings, err := why.ExplainJob(ctx, s.db, &j, frame.Zone(r))
	if err != nil {
		return nil, err
	}
	d.Findings = s.shownFindings(findings)
	if j.State == jobqueue.Success {
		if d.Unusual, err = s.unusual(ctx, j.Tracker, j.Finished.Sub(j.Started)); err != nil {
			return nil, err
		}
	}
	if j.State == jobqueue.Failed || j.State == jobqueue.Stuck || j.State == jobqueue.Cancelled {
		d.Can = append(d.Can, "retry")
	}
	if j.Finished.IsZero() {
		d.Can = append(d.Can, "cancel")
	}
	_, _ = fmt.Sscan(q.Get("after"), &d.After)
	lines, err := s.queue.Logs(ctx, jobqueue.LogFilter{JID: id, After: d.After, Limit: logLines + 1})
	if len(lines) > logLines {
		lines, d.More = lines[:logLines], true
		d.Next = lines[logLines-1].Counter
	}
	for _, l := range lines {
		d.Lines = append(d.Lines, logLine{l.Created, string(l.Level), show.Shorten(show.Printable(s.mask.Line(l.Message)), show.MostArgs)})
	}
	return d, err
}

func (s *server) changeJob(ctx context.Context, r *http.Request, user string) (done, back string, err error) {
	id := r.PostForm.Get("id")
	back = cmp.Or(r.PostForm.Get("back"), "job?id="+queryEscape(id))
	switch action := r.PostForm.Get("action"); action {
	case "cancel":
		state, err := s.queue.Cancel(ctx, id)
		if err != nil {
			return "", "", err
		}
		if state == jobqueue.Cancelled {
			return "The job is cancelled.", back, nil
		}
		return "The job is asked to stop.", back, nil
	case "retry":
		err := s.queue.Retry(ctx, id)
		if errors.Is(err, store.ErrNotFound) { // it is in another queue
			err = s.tasks.Retry(ctx, id)
		}
		return "The job waits again.", back, err
	default:
		return "", "", frame.Bad("unknown action %q; use cancel or retry", show.Printable(action))
	}
}
