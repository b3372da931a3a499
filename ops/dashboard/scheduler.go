package dashboard

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/figures"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/lifecycle"
)

// schedulerView is the page of the scheduler: who runs, and how the clocks stand.
type schedulerView struct {
	Totals    totals        `json:"totals"`
	Load      *loadView     `json:"load,omitempty"` // of nextrun's own executors; nil: none runs, and no job is there
	Version   string        `json:"database"`
	Clock     string        `json:"-"` // how the database's clock stands
	Locks     []lockRow     `json:"locks"`
	Stages    []stageRow    `json:"stages"`    // of the process that serves the page
	Instances []instanceRow `json:"instances"` // that run
	Queue     []depthRow    `json:"queue"`
	Pauses    []pauseRow    `json:"pauses"`
	Limits    []limitRow    `json:"limits"`
	Actions   []actionRow   `json:"actions"` // the newest first
}

type lockRow struct {
	Name      string    `json:"name"`
	Held      bool      `json:"held"`
	Holder    string    `json:"holder"`
	Hostname  string    `json:"hostname"`
	PID       int       `json:"pid"`
	Token     int64     `json:"token"`
	Acquired  time.Time `json:"acquired"`
	Heartbeat time.Time `json:"heartbeat"`
	Expires   time.Time `json:"expires"`
}

// stageRow is a stage of the process that serves the page.
type stageRow struct {
	Stage string `json:"stage"`
	State string `json:"state"`           // up, down, failed
	Error string `json:"error,omitempty"` // why it is not healthy
}

// instanceRow is a scheduler, an executor, a relay or a consumer that runs.
type instanceRow struct {
	Name     string    `json:"name"`
	Boot     string    `json:"boot"`
	Kind     string    `json:"kind"`
	Version  string    `json:"version"`
	Started  time.Time `json:"started"`
	Places   int       `json:"places,omitempty"` // jobs that it runs at once
	Handlers []string  `json:"handlers,omitempty"`
}

type depthRow struct {
	Group  string    `json:"group"`
	State  string    `json:"state"`
	Jobs   int       `json:"jobs"`
	Oldest time.Time `json:"oldest"`
}

type pauseRow struct {
	Kind  string    `json:"kind"`
	Name  string    `json:"name"`
	Since time.Time `json:"since"`
}

type limitRow struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	Most int    `json:"most"`
}

func (s *server) schedulerPage(ctx context.Context, _ *http.Request) (any, error) {
	t, err := figures.Of(s.db).Totals(ctx)
	if err != nil {
		return nil, err
	}
	d := schedulerView{Totals: totalsOf(t), Locks: []lockRow{}}
	if d.Version, err = s.db.Version(ctx); err != nil {
		return nil, err
	}
	kind := "PostgreSQL "
	if strings.HasPrefix(s.db.URL(), "sqlite:") {
		kind = "SQLite "
	}
	d.Version, d.Clock = kind+d.Version, clock(t.Skew)
	for _, q := range t.Queue {
		d.Queue = append(d.Queue, depthRow{q.Group, q.State, q.Jobs, q.Oldest})
	}
	if d.Load, err = s.load(ctx, t); err != nil {
		return nil, err
	}
	locks, err := s.db.Periodic().Locks().List(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range locks {
		d.Locks = append(d.Locks, lockRow{l.Name, l.Expires.After(l.Now), l.Holder, l.Hostname, l.PID, l.Token, l.Acquired, l.Heartbeat, l.Expires})
	}
	if err := d.readQueue(ctx, s); err != nil {
		return nil, err
	}
	if err := d.readInstances(ctx, s); err != nil {
		return nil, err
	}
	d.readStages(ctx, s)
	d.Actions, err = s.recorded(ctx, "", "")
	return d, err
}

// clock says in words how far the database's clock is ahead.
func clock(skew time.Duration) string {
	switch {
	case skew.Abs() < 10*time.Millisecond:
		return "agrees with this host's"
	case skew > 0:
		return span.Exact(skew) + " ahead of this host's"
	}
	return span.Exact(-skew) + " behind this host's"
}

func (d *schedulerView) readQueue(ctx context.Context, s *server) error {
	pauses, err := s.queue.Pauses(ctx)
	if err != nil {
		return err
	}
	for _, p := range pauses {
		d.Pauses = append(d.Pauses, pauseRow{string(p.Kind), p.Name, p.Since})
	}
	limits, err := s.queue.Limits(ctx)
	if err != nil {
		return err
	}
	for _, l := range limits {
		d.Limits = append(d.Limits, limitRow{string(l.Kind), l.Name, l.Most})
	}
	return nil
}

func (d *schedulerView) readInstances(ctx context.Context, s *server) error {
	services, err := figures.Of(s.db).Services(ctx)
	if err != nil {
		return err
	}
	d.Instances = []instanceRow{}
	for _, one := range services {
		if !one.Lives {
			continue
		}
		name, boot, _ := strings.Cut(one.Worker, service.BootMark)
		row := instanceRow{Name: name, Boot: boot, Kind: string(one.Kind), Version: one.Version, Started: one.Started, Places: one.Places}
		for _, h := range one.Handlers {
			row.Handlers = append(row.Handlers, h.Name)
		}
		d.Instances = append(d.Instances, row)
	}
	return nil
}

// readStages notes the stages of this process, if it knows them.
func (d *schedulerView) readStages(ctx context.Context, s *server) {
	if s.health == nil {
		return
	}
	for _, h := range s.health(ctx).Stages {
		if h.Stage == "Docspell" && h.State == lifecycle.Up { // a check that most have no use for
			continue
		}
		d.Stages = append(d.Stages, stageRow{h.Stage, string(h.State), show.Shorten(show.Printable(s.mask.Line(h.Error)), 500)})
	}
}
