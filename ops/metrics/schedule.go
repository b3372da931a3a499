package metrics

import (
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store"
)

// schedule counts what a scheduler does.
type schedule struct {
	ticks, errors, taskTicks, wonLost *prometheus.CounterVec
	ends                              *prometheus.CounterVec
	lateness                          *prometheus.HistogramVec
	took, size                        *prometheus.HistogramVec
	problems, cleared                 *prometheus.CounterVec
	leading                           *prometheus.GaugeVec

	most  int // tasks that have series of their own
	mutex sync.Mutex
	ids   map[string]bool // these
}

func newSchedule(o Options) *schedule {
	return &schedule{
		ticks:     counters("ticks_total", "Ticks that this process decided.", "decision", "sink"),
		taskTicks: counters("task_ticks_total", "Ticks of a task that this process decided; a missed one counts each tick.", "task", "decision"),
		ends:      counters("sink_jobs_total", "Jobs in queues of other projects whose end this process recorded.", "outcome", "sink"),
		lateness: histograms("tick_lateness_seconds",
			"From the time of a tick, without jitter, to the decision that submitted it.", late, "sink"),
		took:     histograms("batch_duration_seconds", "From the first write of a batch of tasks to its commit.", short),
		size:     histograms("batch_tasks", "Tasks in a batch.", sizes),
		errors:   counters("scheduler_errors_total", "Failed work of the scheduler; it was tried again.", "doing"),
		problems: counters("task_problems_total", "Problems of rows that the scheduler found."),
		cleared:  counters("marks_cleared_total", "Marks of Docspell, or of older schedulers, that had expired and were removed."),
		leading:  gauges("leader", "1 while this process holds the scheduler lock, 0 while it does not.", "lock"),
		wonLost:  counters("lock_changes_total", "Times that this process got, lost or gave back the scheduler lock.", "lock", "change"),
		most:     o.Tasks, ids: map[string]bool{},
	}
}

// Scheduler counts an event of a scheduler. Give it as [scheduler.Config.Observe].
func (m *Metrics) Scheduler(e scheduler.Event) {
	s := m.schedule
	switch e.Kind {
	case scheduler.EventTick:
		s.tick(e)
	case scheduler.EventEnded:
		add(s.ends, 1, string(e.Tick.Ended), string(e.Sink))
	case scheduler.EventBatch:
		observe(s.took, e.Took.Seconds())
		observe(s.size, float64(e.Count))
	case scheduler.EventError:
		add(s.errors, 1, e.Doing)
	case scheduler.EventSplit:
		if !errors.Is(e.Err, store.ErrContended) { // else rows are locked, and nothing failed
			add(s.errors, 1, e.Doing)
		}
	case scheduler.EventProblem:
		add(s.problems, 1)
	case scheduler.EventCleared:
		add(s.cleared, e.Count)
	case scheduler.EventLeading, scheduler.EventStandby, scheduler.EventLost, scheduler.EventReleased:
		s.lock(e)
	}
}

// begin has the counters of a sink at 0, so that the first tick of a kind is an increase.
func (s *schedule) begin(queue string) {
	for _, d := range []periodic.Decision{periodic.Submitted, periodic.Skipped, periodic.Late, periodic.Missed} {
		add(s.ticks, 0, string(d), queue)
	}
	for _, end := range []sink.EndState{sink.EndSuccess, sink.EndFailed, sink.EndCancelled, sink.EndGone, sink.EndUnknown} {
		if queue != string(periodic.SinkJob) && queue != string(periodic.SinkEvent) {
			add(s.ends, 0, string(end), queue)
		}
	}
}

func (s *schedule) tick(e scheduler.Event) {
	sink := string(e.Task.Sink)
	s.begin(sink)
	add(s.ticks, 1, string(e.Tick.Decision), sink)
	if s.has(e.Tick.TaskID) {
		add(s.taskTicks, max(e.Tick.Missed, 1), e.Tick.TaskID, string(e.Tick.Decision))
	}
	if e.Tick.Decision == periodic.Submitted && !e.Tick.Decided.IsZero() {
		observe(s.lateness, e.Tick.Decided.Sub(planned(e)).Seconds(), sink)
	}
}

// planned is when a tick was to be submitted: its due with the task's jitter.
func planned(e scheduler.Event) time.Time {
	if e.Tick.Due.Equal(e.Task.Due) && e.Task.NextRun.After(e.Task.Due) {
		return e.Task.NextRun
	}
	return e.Tick.Due
}

func (s *schedule) lock(e scheduler.Event) {
	name := e.Lock.Name
	set(s.leading, truth(e.Kind == scheduler.EventLeading), name)
	for _, kind := range []scheduler.EventKind{scheduler.EventLeading, scheduler.EventLost, scheduler.EventReleased} {
		add(s.wonLost, 0, name, string(kind))
	}
	if e.Kind != scheduler.EventStandby {
		add(s.wonLost, 1, name, string(e.Kind))
	}
}

func (s *schedule) collect(out chan<- prometheus.Metric) {
	for _, c := range []prometheus.Collector{s.ticks, s.taskTicks, s.ends, s.lateness, s.took, s.size, s.errors, s.problems,
		s.cleared, s.leading, s.wonLost} {
		c.Collect(out)
	}
}

// has reports whether a task has a series of its own: the first ones do.
func (s *schedule) has(id string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.ids) < s.most {
		s.ids[id] = true
	}
	return s.ids[id]
}
