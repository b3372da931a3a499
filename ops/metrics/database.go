package metrics

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// readTimeout bounds one reading of the database, and mostSeries the groups and the topics that have series.
const (
	readTimeout = 5 * time.Second
	mostSeries  = 1000
)

// Watch has the metrics show what a database holds, read when somebody scrapes and at
// most once in [Options.Cache]. It replaces the database of an earlier call.
func (m *Metrics) Watch(db *store.DB) { m.database.Store(&database{db: db, options: m.options}) }

// database shows what a database holds.
type database struct {
	db      *store.DB
	options Options

	mutex sync.Mutex // one reading at a time; the others wait for it
	read  time.Time
	last  []prometheus.Metric
}

func (d *database) collect(out chan<- prometheus.Metric) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.read.IsZero() || time.Since(d.read) >= d.options.Cache {
		ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
		defer cancel()
		began := time.Now()
		p := &points{}
		err := d.readAll(ctx, p)
		if err != nil {
			p.list = nil // half of the figures would look as if the others were zero
		}
		p.add(up, truth(err == nil))
		p.add(readSeconds, time.Since(began).Seconds())
		d.last, d.read = p.list, time.Now()
	}
	for _, metric := range d.last {
		out <- metric
	}
}

func (d *database) readAll(ctx context.Context, p *points) error {
	totals, err := view.Of(d.db).Totals(ctx)
	if err != nil {
		return err
	}
	showTotals(p, totals)
	lag, err := d.db.Outbox().Lag(ctx)
	if err != nil && !errors.Is(err, store.ErrNoSchema) {
		return err
	}
	showLag(p, lag)
	var tasks []periodic.Task
	if d.options.Tasks > 0 {
		if tasks, err = periodic.NewTasks(d.db.Tasks()).List(ctx, periodic.TaskFilter{Limit: d.options.Tasks}); err != nil {
			return fmt.Errorf("list the tasks: %w", err)
		}
	}
	facts, err := view.Of(d.db).Tasks(ctx, tasks, view.Judged)
	if err != nil {
		return err
	}
	showTasks(p, facts)
	p.add(dropped, float64(max(totals.Tasks()-len(tasks), 0)))
	return nil
}

func showTotals(p *points, t view.Totals) {
	p.add(tasksByState, float64(t.Enabled), "enabled")
	p.add(tasksByState, float64(t.Disabled), "disabled")
	p.add(tasksByState, float64(t.Paused), "paused")
	p.add(tasksByState, float64(t.Blocked), "blocked")
	p.add(overdue, float64(t.Overdue))
	p.add(overdueMost, t.Late.Seconds())
	p.add(schedulers, float64(t.Working))
	p.add(clockSkew, t.Skew.Seconds())
	for _, q := range t.Queue[:min(len(t.Queue), mostSeries)] {
		p.add(queueDepth, float64(q.Jobs), q.Group, string(q.State))
		p.add(oldestJob, max(t.Now.Sub(q.Oldest), 0).Seconds(), q.Group, string(q.State))
	}
}

func showLag(p *points, lag []outbox.Lag) {
	for _, l := range lag[:min(len(lag), mostSeries)] {
		p.add(outboxPending, float64(l.Pending), l.Topic)
		p.add(outboxLag, l.Age.Seconds(), l.Topic)
		p.add(outboxDead, float64(l.Dead), l.Topic)
	}
}

// Descriptions of the series of the database.
var (
	up           = describe("database_up", "1 if the last reading of the database succeeded.")
	readSeconds  = describe("database_read_seconds", "How long the last reading of the database took.")
	tasksByState = describe("tasks", "Periodic tasks.", "state")
	overdue      = describe("tasks_overdue", "Enabled tasks that no scheduler has taken 5 seconds after their time.")
	schedulers   = describe("schedulers", "Schedulers that run, as far as the database shows.")
	overdueMost  = describe("overdue_seconds_max", "How late the most overdue task is.")
	clockSkew    = describe("clock_skew_seconds", "How far the database's clock is ahead of the host's.")
	queueDepth   = describe("queue_depth", "Unfinished jobs in nextrun's own queue, counted up to 100,000.", "group", "state")
	oldestJob    = describe("oldest_job_seconds", "How long ago the oldest of these jobs was submitted.", "group", "state")

	outboxPending = describe("outbox_pending", "Events that wait to be published.", "topic")
	outboxLag     = describe("outbox_lag_seconds", "How long the oldest of them has waited.", "topic")
	outboxDead    = describe("outbox_dead", "Events that were set aside.", "topic")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
}

// points gathers the values of a reading.
type points struct{ list []prometheus.Metric }

func (p *points) add(d *prometheus.Desc, value float64, labels ...string) {
	p.list = append(p.list, prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, valid(labels)...))
}

// at adds a time; the zero time is 0.
func (p *points) at(d *prometheus.Desc, t time.Time, labels ...string) {
	seconds := 0.0
	if !t.IsZero() {
		seconds = float64(t.UnixMicro()) / 1e6
	}
	p.add(d, seconds, labels...)
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
