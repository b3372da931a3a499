package metrics

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// readTimeout bounds one reading of the database.
const readTimeout = 5 * time.Second

// Watch has the metrics show what a database holds, read when somebody scrapes and at
// most once in [Options.Cache]. It replaces the database of an earlier call; nil: none.
func (m *Metrics) Watch(db *store.DB) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.database = nil; db != nil {
		m.database = &database{db: db, options: m.options}
	}
}

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
	tasks, err := d.tasks(ctx)
	if err != nil {
		return err
	}
	history, err := readHistory(ctx, view.Of(d.db), tasks, totals.Now.Add(-d.options.Grace))
	if err != nil {
		return err
	}
	showTasks(p, tasks, history, totals.Now, d.options.Grace)
	p.add(dropped, float64(max(totals.Enabled+totals.Disabled+totals.Paused+totals.Blocked-len(tasks), 0)))
	return nil
}

// tasks returns the tasks that have series of their own.
func (d *database) tasks(ctx context.Context) ([]periodic.Task, error) {
	const page = 1000
	tasks := periodic.NewTasks(d.db.Tasks())
	var list []periodic.Task
	filter := periodic.TaskFilter{Limit: page}
	for len(list) < d.options.Tasks {
		some, err := tasks.List(ctx, filter)
		if err != nil {
			return nil, fmt.Errorf("list the tasks: %w", err)
		}
		for _, t := range some {
			if (d.options.Select == nil || d.options.Select(t.ID)) && len(list) < d.options.Tasks {
				list = append(list, t)
			}
		}
		if len(some) < page {
			break
		}
		filter.After = some[len(some)-1].ID
	}
	return list, nil
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
	showQueue(p, t)
}

// showQueue shows the groups, of which there may be one for each user.
func showQueue(p *points, t view.Totals) {
	type series struct{ group, state string }
	jobs, oldest, groups := map[series]int{}, map[series]time.Time{}, map[string]bool{}
	for _, q := range t.Queue {
		one := series{strings.ToValidUTF8(q.Group, "\uFFFD"), q.State}
		if !groups[one.group] && len(groups) == mostGroups {
			one.group = others
		} else {
			groups[one.group] = true
		}
		if jobs[one] == 0 || q.Oldest.Before(oldest[one]) {
			oldest[one] = q.Oldest
		}
		jobs[one] += q.Jobs
	}
	for one, n := range jobs {
		p.add(queueDepth, float64(n), one.group, one.state)
		p.add(oldestJob, max(t.Now.Sub(oldest[one]), 0).Seconds(), one.group, one.state)
	}
}

func showLag(p *points, lag []outbox.Lag) {
	sums := map[string]outbox.Lag{}
	for _, l := range lag {
		label := l.Topic
		if _, known := sums[label]; !known && len(sums) == mostTopics {
			label = others
		}
		s := sums[label]
		sums[label] = outbox.Lag{Pending: s.Pending + l.Pending, Dead: s.Dead + l.Dead, Age: max(s.Age, l.Age)}
	}
	for topic, s := range sums {
		p.add(outboxPending, float64(s.Pending), topic)
		p.add(outboxLag, s.Age.Seconds(), topic)
		p.add(outboxDead, float64(s.Dead), topic)
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
