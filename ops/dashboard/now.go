package dashboard

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
)

// nowView is the first page.
type nowView struct {
	verdict

	Totals       totals        `json:"totals"`
	Empty        bool          `json:"empty"` // nobody has added a task
	Handler      string        `json:"-"`     // that the first task may name
	KnownHandler bool          `json:"-"`     // an executor that runs has it
	Troubled     []troubledRow `json:"troubled"`
	Further      int           `json:"troubled_not_listed"`
	Stuck        []stuckTopic  `json:"undelivered"` // events that do not get out, the first topics
	Undelivered  int           `json:"topics_with_undelivered_events"`
	Day          *dayView      `json:"day,omitempty"` // nil: nothing has run
	Runs         []shownRun    `json:"running"`
	MoreRun      int           `json:"running_not_listed"`
	Next         []soonTask    `json:"next"`
	Silent       []processRow  `json:"silent"`         // processes that have gone without a word
	Load         *loadView     `json:"load,omitempty"` // of nextrun's own executors; nil: none runs, and no job is there
	Open         int           `json:"jobs_open_in_other_queues"`
}

// verdict says in a sentence how everything is.
type verdict struct {
	Kind string `json:"state"` // good, bad, warn, wait or off
	Text string `json:"sentence"`
}

type totals struct {
	Troubled int    `json:"need_attention"`
	Working  int    `json:"schedulers"`       // that run, as far as the database shows
	Fresh    bool   `json:"no_scheduler_yet"` // none has run on this database
	Enabled  int    `json:"enabled"`
	Paused   int    `json:"paused"`
	Disabled int    `json:"disabled"`
	Blocked  int    `json:"blocked"`
	Overdue  int    `json:"overdue"`
	Late     string `json:"most_overdue,omitempty"`
	Alone    bool   `json:"no_scheduler"`       // tasks are overdue, and no scheduler is known to run
	Idle     bool   `json:"no_scheduler_known"` // although none of the tasks is overdue yet
}

// All are all tasks: each is in one of these states.
func (t totals) All() int { return t.Enabled + t.Paused + t.Blocked + t.Disabled }

func (s *server) nowPage(ctx context.Context, r *http.Request) (any, error) {
	t, err := view.Of(s.db).Totals(ctx)
	if err != nil {
		return nil, err
	}
	services, err := view.Of(s.db).Services(ctx)
	if err != nil {
		return nil, err
	}
	d := nowView{Totals: totalsOf(t), Load: loadOf(t, services)}
	if d.Empty = d.Totals.All() == 0; d.Empty {
		d.Handler, d.KnownHandler = firstHandler(services)
	}
	zone, trouble := frame.Zone(r), errgroup.Group{} // beside the rest: the pages have two connections
	trouble.Go(func() error { return d.readTrouble(ctx, s, t, zone) })
	err = d.readBeside(ctx, s, t, services, zone)
	if err := cmp.Or(trouble.Wait(), err); err != nil {
		return nil, err
	}
	d.verdict = d.judge()
	return &d, nil
}

// readBeside reads what stands beside the tasks that need attention.
func (d *nowView) readBeside(ctx context.Context, s *server, t view.Totals, services []view.Service, zone *time.Location) (err error) {
	if d.Day, err = s.day(ctx, t.Now, zone); err != nil {
		return err
	}
	if d.Next, err = s.next(ctx); err != nil {
		return err
	}
	d.Silent = slices.DeleteFunc(s.processes(services), func(p processRow) bool { return p.Silent == "" })
	if err := d.readRunning(ctx, s, services); err != nil {
		return err
	}
	_, d.Open = s.others(t)
	topics, err := s.db.Outbox().Lag(ctx)
	if err != nil {
		return err
	}
	hooks, err := s.queue.List(ctx, jobqueue.Filter{
		Group: jobqueue.HookGroup, States: []jobqueue.State{jobqueue.Stuck, jobqueue.Failed}, Since: t.Now.AddDate(0, 0, -1),
	})
	d.readUndelivered(topics, hooks, s.mask)
	return err
}

// firstHandler is one that the first task may name.
func firstHandler(services []view.Service) (name string, known bool) {
	for _, one := range services {
		if one.Lives && one.Kind == view.Executor && len(one.Handlers) > 0 && one.Handlers[0].Name != jobqueue.HookHandler {
			return one.Handlers[0].Name, true
		}
	}
	return "echo", false
}

// judge is the sentence of the page.
func (d *nowView) judge() verdict {
	t := d.Totals
	switch {
	case d.Empty:
		return verdict{"off", "No tasks yet"}
	case t.Fresh:
		return verdict{"wait", "No scheduler has run yet"}
	case t.Alone:
		return d.alone()
	case t.Troubled > 0:
		return d.troubled()
	case d.Load != nil && d.Load.Trouble != "":
		return verdict{"warn", "Jobs are waiting"}
	case d.Undelivered > 0:
		return verdict{"warn", "Events of " + count(d.Undelivered, "topic") + " do not get out"}
	case t.Idle:
		return verdict{"warn", "Tasks wait for a scheduler"}
	case len(d.Silent) > 0:
		return verdict{"warn", "A process has gone without a word"}
	case t.Enabled == 0:
		return verdict{"off", "No task is to run"}
	case t.All() == 1:
		return verdict{"good", "The task is on time"}
	case t.Enabled < t.All():
		return verdict{"good", "All of the " + count(t.Enabled, "enabled task") + " are on time"}
	}
	return verdict{"good", "All " + show.Number(t.All()) + " tasks are on time"}
}

// alone is the sentence when no scheduler runs.
func (d *nowView) alone() verdict {
	text := "No scheduler runs, and " + count(d.Totals.Overdue, "task") + map[bool]string{true: " is due", false: " are due"}[d.Totals.Overdue == 1]
	switch n := len(d.Troubled); n {
	case 0:
	case 1:
		text += "; 1 has another problem"
	case troubledTasks:
		text += "; many have other problems"
	default:
		text += "; " + show.Number(n) + " have other problems"
	}
	return verdict{"bad", text}
}

// troubled is the sentence when tasks need attention.
func (d *nowView) troubled() verdict {
	t, kind := d.Totals, "warn"
	if slices.ContainsFunc(d.Troubled, func(one troubledRow) bool { return one.Shape() == "bad" }) {
		kind = "bad"
	}
	text := show.Number(t.Troubled) + " of " + show.Number(t.All()) + " tasks need attention"
	switch {
	case t.All() == 1:
		text = "The task needs attention"
	case t.Troubled == 1:
		text = "1 of " + show.Number(t.All()) + " tasks needs attention"
	}
	if d.Undelivered > 0 {
		text += ", and events do not get out"
	}
	switch {
	case t.Idle:
		text += "; no scheduler runs"
	case len(d.Silent) > 0:
		text += "; a process has gone without a word"
	}
	return verdict{kind, text}
}

// count is a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return show.Number(n) + " " + thing + "s"
}

func totalsOf(t view.Totals) totals {
	d := totals{Working: t.Working, Fresh: t.Fresh, Alone: t.NoScheduler(), Idle: t.Working == 0 && t.Enabled > 0, Enabled: t.Enabled, Paused: t.Paused, Disabled: t.Disabled, Blocked: t.Blocked,
		Overdue: t.Overdue}
	d.Fresh = d.Fresh || t.Working == 0 && d.All() == 0
	if t.Late > 0 {
		d.Late = text.Exact(t.Late.Truncate(time.Second))
	}
	return d
}
