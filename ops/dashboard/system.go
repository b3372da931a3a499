package dashboard

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
)

// systemView is the page of the scheduler: who runs, and how the clocks stand.
type systemView struct {
	Totals    totals           `json:"totals"`
	Load      *loadView        `json:"load,omitempty"` // of nextrun's own executors; nil: none runs, and no job is there
	Version   string           `json:"database"`
	Clock     string           `json:"-"` // how the database's clock stands
	Locks     []lockRow        `json:"locks"`
	Processes []processRow     `json:"processes"` // that run
	Last      *view.Run        `json:"-"`         // the newest tick, where none runs: who decided it and who ran it ran last
	Queue     []depthRow       `json:"queue"`
	Others    []otherQueue     `json:"other_queues,omitempty"`
	Next      time.Time        `json:"next_due,omitzero"` // the first tick to come of all
	Past      bool             `json:"-"`                 // that is past, and no scheduler has taken it
	Limits    []jobqueue.Limit `json:"limits"`            // 0 at once: paused
	Events    *eventList       `json:"events"`
}

// Leader holds the lock that schedulers share, if they have one; nil: none is held.
func (d *systemView) Leader() *lockRow {
	if i := slices.IndexFunc(d.Locks, func(l lockRow) bool { return l.Held }); i >= 0 {
		return &d.Locks[i]
	}
	return nil
}

type lockRow struct {
	Name      string    `json:"name"`
	Held      bool      `json:"held"`
	Holder    string    `json:"holder"`
	Hostname  string    `json:"hostname"`
	PID       int       `json:"pid"`
	Acquired  time.Time `json:"acquired"`
	Heartbeat time.Time `json:"heartbeat"`
	Expires   time.Time `json:"expires"`
}

// processRow is a process: the scheduler and the executor that run under one name.
type processRow struct {
	Name     string    `json:"name"`
	Parts    []string  `json:"parts"` // scheduler, executor
	Version  string    `json:"version"`
	Started  time.Time `json:"started"`
	Seen     time.Time `json:"seen"`
	Places   int       `json:"places,omitempty"` // jobs that it runs at once
	Hooks    int       `json:"hook_places,omitempty"`
	Running  int       `json:"running,omitempty"`
	Handlers []string  `json:"handlers,omitempty"`
	Trouble  string    `json:"trouble,omitempty"` // what keeps a scheduler from its work
	Silent   string    `json:"silent,omitempty"`  // how long ago it last gave a sign of life, if that is long
}

type depthRow struct {
	Group  string    `json:"group"`
	State  string    `json:"state"`
	Jobs   int       `json:"jobs"`
	Oldest time.Time `json:"oldest"`
}

func (s *server) systemPage(ctx context.Context, r *http.Request) (any, error) {
	t, err := view.Of(s.db).Totals(ctx)
	if err != nil {
		return nil, err
	}
	d := systemView{Totals: totalsOf(t), Locks: []lockRow{}}
	if d.Version, err = s.db.Version(ctx); err != nil {
		return nil, err
	}
	kind := "PostgreSQL "
	if strings.HasPrefix(s.db.URL(), "sqlite:") {
		kind = "SQLite "
	}
	d.Version, d.Clock = kind+d.Version, clock(t.Skew)
	for _, q := range t.Queue {
		d.Queue = append(d.Queue, depthRow{q.Group, string(q.State), q.Jobs, q.Oldest})
	}
	services, err := view.Of(s.db).Services(ctx)
	if err != nil {
		return nil, err
	}
	d.Load = loadOf(t, services)
	locks, err := s.db.Periodic().Locks().List(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range locks {
		d.Locks = append(d.Locks, lockRow{l.Name, l.Expires.After(l.Now), view.NameOf(l.Holder), l.Hostname, l.PID, l.Acquired, l.Heartbeat, l.Expires})
	}
	d.Others, _ = s.others(t)
	next, err := s.tasks.List(ctx, periodic.TaskFilter{DueBefore: periodic.Never, Limit: 1, Slim: true})
	if err != nil {
		return nil, err
	}
	if len(next) > 0 {
		d.Next, d.Past = next[0].NextRun, next[0].NextRun.Before(time.Now())
	}
	if d.Limits, err = s.queue.Limits(ctx); err != nil {
		return nil, err
	}
	d.Processes = s.processes(services)
	if d.Events, err = s.events(ctx, r); err != nil || len(d.Processes) > 0 {
		return &d, err
	}
	return &d, d.readLast(ctx, s)
}

func (d *systemView) readLast(ctx context.Context, s *server) error {
	newest, err := view.Of(s.db).List(ctx, s.tasks, periodic.TickFilter{Limit: 1})
	if len(newest) > 0 {
		d.Last = &newest[0]
		d.Last.Worker, d.Last.Executor = view.NameOf(d.Last.Worker), view.NameOf(d.Last.Executor)
	}
	return err
}

// clock says in words how far the database's clock is ahead.
func clock(skew time.Duration) string {
	switch {
	case skew.Abs() < 10*time.Millisecond:
		return "agrees with this host's"
	case skew > 0:
		return text.Exact(skew) + " ahead of this host's"
	}
	return text.Exact(-skew) + " behind this host's"
}

// How long a process may be silent before the page says so, and how long one is shown that has gone without a word: a
// process says every 30 s that it lives.
const (
	silentProcess = 40 * time.Second
	goneShown     = time.Hour
)

// processes are those that live, or have gone without a word: a newer start of the same name takes the place of one.
func (s *server) processes(services []view.Service) []processRow {
	list := []processRow{}
	for _, one := range services {
		silence, name, hooks := time.Since(one.Seen), view.NameOf(one.Worker), ofHooks(&one)
		if !one.Lives && (silence > goneShown || slices.ContainsFunc(services, func(other view.Service) bool {
			newer := other.Lives || other.Seen.After(one.Seen)
			return newer && other.Kind == one.Kind && ofHooks(&other) == hooks && view.NameOf(other.Worker) == name
		})) {
			continue
		}
		at := slices.IndexFunc(list, func(p processRow) bool {
			return p.Name == name && (hooks && p.Hooks == 0 || !hooks && !slices.Contains(p.Parts, string(one.Kind)))
		})
		if at < 0 {
			at, list = len(list), append(list, processRow{Name: name, Version: one.Version, Started: one.Started})
		}
		row := &list[at]
		row.add(&one)
		if silence > silentProcess {
			row.Silent = text.Text(silence.Truncate(time.Second))
		}
		if row.Trouble == "" {
			row.Trouble = show.Shorten(show.Printable(s.mask.Line(one.Trouble)), 300)
		}
		if zones := one.OtherZones(); row.Trouble == "" && len(zones) > 0 {
			row.Trouble = "its zone data have other rules than those of this page's process for " + strings.Join(zones, ", ")
		}
	}
	return list
}

// add adds a service to its process.
func (p *processRow) add(one *view.Service) {
	p.Seen = later(p.Seen, one.Seen)
	if ofHooks(one) {
		p.Hooks = one.Places
		return
	}
	p.Parts, p.Places = append(p.Parts, string(one.Kind)), p.Places+one.Places
	slices.SortFunc(p.Parts, func(a, b string) int { return strings.Compare(b, a) }) // a scheduler first
	for _, h := range one.Handlers {
		p.Handlers = append(p.Handlers, h.Name)
	}
}
