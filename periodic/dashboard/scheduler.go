package dashboard

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/jobqueue"
)

// schedulerView is the page of the scheduler: who runs, and how the clocks stand.
type schedulerView struct {
	Totals  totals      `json:"totals"`
	Version string      `json:"database"`
	Clock   string      `json:"-"` // how the database's clock stands
	Locks   []lockRow   `json:"locks"`
	Workers []workerRow `json:"executors"` // that run jobs now
	Queue   []depthRow  `json:"queue"`
	Pauses  []pauseRow  `json:"pauses"`
	Limits  []limitRow  `json:"limits"`
	Actions []actionRow `json:"actions"` // the newest first
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

type workerRow struct {
	Name  string    `json:"name"`
	Count int       `json:"count"`
	Seen  time.Time `json:"seen"`
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

// runningJobs is how many running jobs are looked through for their executors.
const runningJobs = 1000

func (s *server) schedulerPage(ctx context.Context, _ *http.Request) (any, error) {
	t, err := s.db.Figures().Totals(ctx)
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
	locks, err := s.db.ListLocks(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range locks {
		d.Locks = append(d.Locks, lockRow{l.Name, l.Expires.After(l.Now), l.Holder, l.Hostname, l.PID, l.Token, l.Acquired, l.Heartbeat, l.Expires})
	}
	if err := d.readWorkers(ctx, s); err != nil {
		return nil, err
	}
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

func (d *schedulerView) readWorkers(ctx context.Context, s *server) error {
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
	jobs, err := s.queue.List(ctx, jobqueue.Filter{States: []jobqueue.State{jobqueue.Running, jobqueue.Scheduled}, Limit: runningJobs})
	if err != nil {
		return err
	}
	at := map[string]int{}
	for _, j := range jobs {
		i, known := at[j.Worker]
		if !known {
			i = len(d.Workers)
			at[j.Worker] = i
			d.Workers = append(d.Workers, workerRow{Name: j.Worker})
		}
		w := &d.Workers[i]
		w.Count++
		if j.Heartbeat.After(w.Seen) {
			w.Seen = j.Heartbeat
		}
	}
	return nil
}
