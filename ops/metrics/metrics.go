package metrics

import (
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic"
)

// Options are the settings of [New]. The zero value is ready for use.
type Options struct {
	// Tasks is how many periodic tasks have series of their own, the first by id. A
	// negative number: none. nextrun_task_series_dropped says how many were left out.
	// 0: 1000.
	Tasks int
	// Cache is how long figures of the database serve further scrapes.
	// 0: 10 s.
	Cache time.Duration
	// Version and Revision are those of the program, for the labels of nextrun_build_info.
	Version, Revision string
	// Healthy says whether the process works, for nextrun_healthy. nil: there is no such series.
	Healthy func() bool
	// LogLost says how many lines of the log nobody took. nil: there is no such series.
	LogLost func() int64
}

// Metrics counts what the services of a process do, and reads a database. It
// implements [prometheus.Collector] and is safe for concurrent use.
type Metrics struct {
	options  Options
	schedule *schedule
	jobs     *jobs
	events   events
	build    *prometheus.GaugeVec
	process  []prometheus.Collector

	database atomic.Pointer[database] // nil: none is watched
}

// New returns metrics that have counted nothing.
func New(options Options) *Metrics {
	service.SetDefault(&options.Tasks, 1000)
	service.SetDefault(&options.Cache, 10*time.Second)
	m := &Metrics{options: options, schedule: newSchedule(options), jobs: newJobs(), events: newEvents(),
		build: gauges("build_info", "1; the labels say what runs.", "version", "revision", "goversion")}
	set(m.build, 1, options.Version, options.Revision, runtime.Version())
	if options.Healthy != nil {
		m.process = append(m.process, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: "healthy",
			Help: "1 while the process works, as /healthz says."}, func() float64 { return truth(options.Healthy()) }))
	}
	if options.LogLost != nil {
		m.process = append(m.process, prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: namespace, Name: "log_lines_lost_total",
			Help: "Lines of the log that nobody took."}, func() float64 { return float64(options.LogLost()) }))
	}
	for _, c := range []*prometheus.CounterVec{m.schedule.problems, m.schedule.cleared, m.jobs.errors} {
		add(c, 0)
	}
	add(m.schedule.errors, 0, "schedule")
	add(m.events.errors, 0, "claim topics")
	for _, sink := range []periodic.Sink{periodic.SinkJob, periodic.SinkEvent} {
		m.schedule.begin(string(sink))
	}
	return m
}

// Describe implements [prometheus.Collector]. It describes nothing, so that the series
// of the database may come and go.
func (m *Metrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	m.build.Collect(out)
	for _, c := range m.process {
		c.Collect(out)
	}
	m.schedule.collect(out)
	m.jobs.collect(out)
	m.events.collect(out)
	if d := m.database.Load(); d != nil {
		d.collect(out)
	}
}

// Handler serves the metrics together with those of the Go runtime and the process.
func (m *Metrics) Handler() http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4})
}

const namespace = "nextrun"

func gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
}

// Any text may be in a row, and a label that is not valid UTF-8 would panic.
func valid(labels []string) []string {
	for i, label := range labels {
		labels[i] = strings.ToValidUTF8(label, "\uFFFD")
	}
	return labels
}

func add(c *prometheus.CounterVec, n int, labels ...string) {
	c.WithLabelValues(valid(labels)...).Add(float64(n))
}

func observe(h *prometheus.HistogramVec, value float64, labels ...string) {
	h.WithLabelValues(valid(labels)...).Observe(max(value, 0))
}

func set(g *prometheus.GaugeVec, value float64, labels ...string) {
	g.WithLabelValues(valid(labels)...).Set(value)
}

// Buckets, in seconds.
var (
	short  = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	late   = []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 600}
	lasted = []float64{.005, .025, .1, .5, 1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 12 * 3600}
	sizes  = []float64{1, 2, 5, 10, 50, 100, 500, 1000, 5000}
)
