package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
)

// jobs counts what an executor does. Its label is the handler, whose number the
// configuration bounds.
type jobs struct {
	ended, errors, lost, taken *prometheus.CounterVec
	running                    *prometheus.GaugeVec
	took, waited               *prometheus.HistogramVec
	now                        sync.Map // ids of the jobs that run
}

func newJobs() *jobs {
	return &jobs{
		ended:   counters("jobs_total", "Attempts of jobs that ended here; a retrying one is tried again.", "handler", "outcome"),
		running: gauges("jobs_running", "Jobs that run here.", "handler"),
		took:    histograms("job_duration_seconds", "How long an attempt of a job ran.", lasted, "handler", "outcome"),
		waited:  histograms("job_wait_seconds", "From the submission of a job to its first attempt.", late, "handler"),
		lost:    counters("jobs_lost_total", "Jobs that were taken from this process, or whose lease it could not renew.", "handler"),
		taken:   counters("jobs_interrupted_total", "Jobs that this process took back from a worker that died.", "handler"),
		errors:  counters("executor_errors_total", "Failed work of the executor; it was tried again."),
	}
}

// Executor counts an event of an executor. Give it as [executor.Config.Observe].
func (m *Metrics) Executor(e executor.Event) {
	j, task := m.jobs, e.Job.Task
	switch e.Kind {
	case executor.EventBegun:
		j.begin(e.Job)
		for _, state := range []jobqueue.State{jobqueue.Success, jobqueue.Failed, jobqueue.Stuck, jobqueue.Cancelled} {
			add(j.ended, 0, task, state.Word())
		}
		if e.Job.Retries == 0 && e.Job.Interrupts == 0 && !e.Job.Started.IsZero() {
			observe(j.waited, e.Job.Started.Sub(e.Job.Submitted).Seconds(), task)
		}
	case executor.EventEnded:
		j.leave(e.Job)
		add(j.ended, 1, task, e.State.Word())
		observe(j.took, e.Duration.Seconds(), task, e.State.Word())
	case executor.EventLost:
		j.leave(e.Job)
		add(j.lost, 1, task)
	case executor.EventInterrupted:
		add(j.taken, 1, task)
	case executor.EventTrouble:
		add(j.errors, 1)
	}
}

// begin and leave keep the gauge of running jobs: a job may be lost before it begins.
func (j *jobs) begin(job jobqueue.Job) {
	if _, runs := j.now.LoadOrStore(job.JID, nil); !runs {
		j.running.WithLabelValues(valid([]string{job.Task})...).Inc()
	}
}

func (j *jobs) leave(job jobqueue.Job) {
	if _, ran := j.now.LoadAndDelete(job.JID); ran {
		j.running.WithLabelValues(valid([]string{job.Task})...).Dec()
	}
}

func (j *jobs) collect(out chan<- prometheus.Metric) {
	for _, c := range []prometheus.Collector{j.ended, j.running, j.took, j.waited, j.lost, j.taken, j.errors} {
		c.Collect(out)
	}
}

// events counts what a relay does.
type events struct {
	published, failed, dead, errors *prometheus.CounterVec
	took                            *prometheus.HistogramVec
}

func newEvents() events {
	return events{
		published: counters("events_published_total", "Events that the publisher accepted.", "topic"),
		failed:    counters("event_failures_total", "Failed attempts to publish an event.", "topic"),
		dead:      counters("events_dead_total", "Events that were refused too often and set aside.", "topic"),
		errors:    counters("relay_errors_total", "Failed work of the relay; it was tried again.", "doing"),
		took:      histograms("publish_duration_seconds", "From the claim of a batch of events to its acceptance.", short, "topic"),
	}
}

// Relay counts a notice of a relay. Give it as [relay.Config.Observe].
func (m *Metrics) Relay(n relay.Notice) {
	e, topic := &m.events, n.Topic
	if n.Kind != relay.NoticeTrouble {
		for _, c := range []*prometheus.CounterVec{e.published, e.failed, e.dead} {
			add(c, 0, topic)
		}
	}
	switch n.Kind {
	case relay.NoticePublished:
		add(e.published, n.Count, topic)
		observe(e.took, n.Took.Seconds(), topic)
	case relay.NoticeFailed:
		add(e.failed, 1, topic)
	case relay.NoticeDead:
		add(e.dead, 1, topic)
	case relay.NoticeTrouble:
		add(e.errors, 1, n.Doing)
	}
}

func (e *events) collect(out chan<- prometheus.Metric) {
	for _, c := range []prometheus.Collector{e.published, e.failed, e.dead, e.errors, e.took} {
		c.Collect(out)
	}
}
