package periodic

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// noon is the time of the decisions in the tables below: minutes count from it.
var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func minute(m float64) time.Time { return noon.Add(time.Duration(m * float64(time.Minute))) }

// situation is a task that elapses every ten minutes, and what is the case.
type situation struct {
	due      float64 // minute of the planned tick
	hand     bool    // that is a nextrun set by hand instead
	overlap  Overlap
	catchup  Catchup
	grace    time.Duration
	deadline time.Duration // 0: none
	pending  jobqueue.State
	ended    float64      // when the job before it ended; 0: not known
	decided  [][2]float64 // recorded ranges
	starts   float64      // 0: none
	ends     float64      // 0: none
	sink     Sink
	change   func(*Task) // what else there is about it; nil: nothing
}

func (s situation) decide(t *testing.T) Plan {
	t.Helper()
	timer, err := calendar.Parse("*:0/10")
	if err != nil {
		t.Fatal(err)
	}
	task := &Task{
		ID: "task", Enabled: true, NextRun: minute(s.due), Due: minute(s.due), Timer: "*:0/10",
		Overlap: s.overlap, Catchup: s.catchup, Grace: s.grace, Sink: s.sink,
	}
	if s.hand {
		task.Due = time.Time{}
	}
	if s.deadline > 0 {
		task.Deadline = &s.deadline
	}
	if s.starts != 0 {
		task.Starts = minute(s.starts)
	}
	if s.ends != 0 {
		task.Ends = minute(s.ends)
	}
	if s.change != nil {
		s.change(task)
	}
	f := Facts{Now: noon, Worker: "me/abc/1"}
	if s.pending != "" {
		f.Pending = &sink.Pending{JID: "old", State: s.pending, Due: minute(-90), Started: minute(-80)}
	}
	if s.ended != 0 {
		f.Ended = minute(s.ended)
	}
	for _, r := range s.decided {
		f.Decided = append(f.Decided, Range{minute(r[0]), minute(r[1])})
	}
	n := 0
	return task.Decide(timer, f, func(time.Time) string { n++; return fmt.Sprintf("new%d", n) })
}

// text writes a plan in one line: ticks, settled ones, the job to
// cancel, the next due, all in minutes from noon.
func (p Plan) text() string {
	m := func(at time.Time) string {
		if at.Equal(Never) {
			return "never"
		}
		return fmt.Sprint(at.Sub(noon).Minutes())
	}
	var parts []string
	for _, tick := range p.Settled {
		parts = append(parts, fmt.Sprintf("settle %s %s", m(tick.Due), tick.Decision))
	}
	for _, tick := range p.Ticks {
		part := fmt.Sprintf("%s %s", m(tick.Due), tick.Decision)
		if tick.Missed != 0 {
			part += fmt.Sprintf(" %d until %s", tick.Missed, m(tick.Until))
		}
		parts = append(parts, part)
	}
	if p.Held {
		parts = append(parts, "held")
	}
	if p.Cancel != "" {
		parts = append(parts, "cancel "+p.Cancel)
	}
	due := p.Due
	if due.IsZero() {
		due = p.NextRun
	}
	return strings.Join(append(parts, "next "+m(due)), ", ")
}

func TestDecide(t *testing.T) {
	const running, waiting, stuck, scheduled = jobqueue.Running, jobqueue.Waiting, jobqueue.Stuck, jobqueue.Scheduled
	for _, test := range []struct {
		name string
		situation
		want string
	}{
		{"on time", situation{due: 0}, "0 submitted, next 10"},
		{"not due", situation{due: 10}, "next 10"},
		{"one tick is late but the newest", situation{due: -10}, "-10 missed 1 until -10, 0 submitted, next 10"},
		{"outage", situation{due: -60}, "-60 missed 6 until -10, 0 submitted, next 10"},
		{"outage longer than is counted", situation{due: -10 * 20_000}, "-200000 missed -1 until -10, 0 submitted, next 10"},

		{"skip", situation{due: 0, pending: running}, "0 skipped, next 10"},
		{"skip, job waiting", situation{due: 0, pending: waiting}, "0 skipped, next 10"},
		{"skip after outage", situation{due: -20, pending: stuck}, "-20 missed 2 until -10, 0 skipped, next 10"},
		{"allow", situation{due: 0, overlap: OverlapAllow, pending: running}, "0 submitted, next 10"},
		{"event", situation{due: 0, sink: SinkEvent, pending: running}, "0 submitted, next 10"},

		{"queue", situation{due: 0, overlap: OverlapQueue, pending: running}, "held, next 0"},
		{"queue, nothing pending", situation{due: 0, overlap: OverlapQueue}, "0 submitted, next 10"},
		{"queue, later", situation{due: -30, overlap: OverlapQueue, pending: running}, "held, next -30"},
		{"queue, the job has ended", situation{due: -30, overlap: OverlapQueue, ended: -1}, "-30 skipped 3 until -10, 0 submitted, next 10"},
		{"queue, an event waits for no job", situation{due: -30, overlap: OverlapQueue, ended: -1, sink: SinkEvent}, "-30 missed 3 until -10, 0 submitted, next 10"},
		{"queue, the job had ended long ago", situation{due: -30, overlap: OverlapQueue, ended: -15},
			"-30 skipped 2 until -20, -10 missed 1 until -10, 0 submitted, next 10"},
		{"queue, too late", situation{due: -10, starts: -10, ends: -1, overlap: OverlapQueue, ended: -1, deadline: time.Minute}, "-10 late, next never"},
		{"queue, none, waited", situation{due: -10, ends: -1, overlap: OverlapQueue, catchup: CatchupNone, grace: time.Minute, ended: -1, starts: -10},
			"-10 submitted, next never"},
		{"queue, none, too late after the job", situation{due: -10, ends: -1, overlap: OverlapQueue, catchup: CatchupNone, grace: time.Minute, ended: -3, starts: -10},
			"-10 missed 1 until -10, next never"},
		{"queue, all of an outage", situation{due: -20, overlap: OverlapQueue, catchup: CatchupAll, pending: running}, "held, next -20"},
		{"queue, all of an outage, nothing pending", situation{due: -20, overlap: OverlapQueue, catchup: CatchupAll}, "-20 submitted, next -10"},

		{"replace a waiting job", situation{due: 0, overlap: OverlapReplace, pending: waiting}, "0 submitted, cancel old, next 10"},
		{"replace a stuck job", situation{due: 0, overlap: OverlapReplace, pending: stuck}, "0 submitted, cancel old, next 10"},
		{"replace a running job", situation{due: 0, overlap: OverlapReplace, pending: running}, "held, cancel old, next 0"},
		{"replace a scheduled job", situation{due: 0, overlap: OverlapReplace, pending: scheduled}, "held, cancel old, next 0"},
		{"replace, all of an outage", situation{due: -20, overlap: OverlapReplace, catchup: CatchupAll},
			"-20 skipped, -10 skipped, 0 submitted, next 10"},

		{"none in time", situation{due: -20, catchup: CatchupNone, grace: time.Minute}, "-20 missed 2 until -10, 0 submitted, next 10"},
		{"none too late", situation{due: -20, catchup: CatchupNone, grace: 0, ends: -1}, "-20 missed 2 until -10, next never"},
		{"all", situation{due: -20, catchup: CatchupAll, overlap: OverlapAllow},
			"-20 submitted, -10 submitted, 0 submitted, next 10"},
		{"all, no overlap", situation{due: -20, catchup: CatchupAll}, "-20 submitted, -10 skipped, 0 skipped, next 10"},

		{"deadline kept", situation{due: 0, deadline: time.Minute}, "0 submitted, next 10"},
		{"deadline passed", situation{due: -10, deadline: time.Minute, starts: -10, ends: -1}, "-10 late, next never"},
		{"deadline passed, before overlap", situation{due: -20, deadline: 15 * time.Minute, catchup: CatchupAll, pending: running},
			"-20 late, -10 skipped, 0 skipped, next 10"},

		{"by hand", situation{due: -3, hand: true}, "-3 submitted, 0 skipped, next 10"},
		{"by hand, just now", situation{due: -3, hand: true, starts: 5}, "-3 submitted, next 10"},
		{"by hand, after the end", situation{due: -3, hand: true, ends: -300}, "-3 submitted, next never"},
		{"by hand, older than grace", situation{due: -9, hand: true, catchup: CatchupNone, overlap: OverlapAllow, grace: time.Minute},
			"-9 submitted, 0 submitted, next 10"},
		{"by hand, long ago", situation{due: -33, hand: true, overlap: OverlapAllow},
			"-33 submitted, -30 missed 3 until -10, 0 submitted, next 10"},
		{"by hand, too late", situation{due: -3, hand: true, deadline: time.Minute, starts: 5}, "-3 late, next 10"},
		{"by hand, job running", situation{due: -3, hand: true, pending: running, starts: 5}, "-3 skipped, next 10"},

		{"outage, its first tick backfilled", situation{due: -60, decided: [][2]float64{{-60, -60}}}, "-50 missed 5 until -10, 0 submitted, next 10"},
		{"outage, its last tick backfilled", situation{due: -60, decided: [][2]float64{{-10, -10}}}, "-60 missed 5 until -20, 0 submitted, next 10"},
		{"outage, backfilled", situation{due: -20, decided: [][2]float64{{-20, -20}, {-10, -10}, {0, 0}}}, "next 10"},
		{"outage, all, partly backfilled", situation{due: -20, catchup: CatchupAll, overlap: OverlapAllow, decided: [][2]float64{{-20, -20}, {0, 0}}},
			"-10 submitted, next 10"},
		{"by hand, before decided ticks", situation{due: -33, hand: true, decided: [][2]float64{{-30, -10}, {0, 0}}}, "-33 submitted, next 10"},
		{"by hand, amid missed ones", situation{due: -33, hand: true, decided: [][2]float64{{-60, -10}, {0, 0}}}, "-33 submitted, next 10"},
		{"by hand, to a decided tick, after an outage", situation{due: -60, hand: true, decided: [][2]float64{{-60, -40}}},
			"-30 missed 3 until -10, 0 submitted, next 10"},
		{"by hand, gaps", situation{due: -63, hand: true, overlap: OverlapAllow, decided: [][2]float64{{-50, -40}, {-20, -20}, {-15, -15}}},
			"-63 submitted, -60 missed 1 until -60, -30 missed 1 until -30, -10 missed 1 until -10, 0 submitted, next 10"},
		{"by hand, replaces, the newest decided", situation{due: -5, hand: true, overlap: OverlapReplace, pending: waiting, decided: [][2]float64{{0, 0}}},
			"-5 submitted, cancel old, next 10"},
		{"by hand, queues, the newest decided", situation{due: -5, hand: true, overlap: OverlapQueue, pending: running, decided: [][2]float64{{0, 0}}},
			"held, next -5"},
		{"by hand, then the timer's, queue", situation{due: -3, hand: true, overlap: OverlapQueue}, "-3 submitted, next 0"},

		{"ends", situation{due: 0, ends: 10}, "0 submitted, next never"},
		{"ends later", situation{due: 0, ends: 10.5}, "0 submitted, next 10"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.decide(t).text(); got != test.want {
				t.Errorf("\n got  %s\n want %s", got, test.want)
			}
		})
	}
}

func TestPlanOfUnplanned(t *testing.T) {
	for _, test := range []struct {
		timer        string
		starts, ends time.Time
		due          string
		problem      string
	}{
		{timer: "*:0/10", due: "2026-03-10 12:10:00"}, // strictly after now
		{timer: "daily", starts: minute(60 * 100), due: "2026-03-15 00:00:00"},
		{timer: "12:00", starts: noon, due: "2026-03-11 12:00:00"},
		{timer: "13:00", starts: minute(60), due: "2026-03-10 13:00:00"}, // starts is within
		{timer: "13:00", ends: minute(60), due: "9999-12-31 23:59:59"},   // ends is not
		{timer: "*-02-31", due: "9999-12-31 23:59:59", problem: `warning: timer "*-02-31" never elapses`},
		{timer: "2020-01-01", due: "9999-12-31 23:59:59"},
	} {
		timer, err := calendar.Parse(test.timer)
		if err != nil {
			t.Fatal(err)
		}
		task := &Task{ID: "task", NextRun: Unplanned, Timer: test.timer, Starts: test.starts, Ends: test.ends}
		p := task.Decide(timer, Facts{Now: noon}, func(time.Time) string { return "new" })
		if got := p.Due.Format(time.DateTime); got != test.due || !p.NextRun.Equal(p.Due) || p.Problem != test.problem || len(p.Ticks) > 0 {
			t.Errorf("%s from %s to %s: due %s, nextrun %s, problem %q, %d ticks", test.timer, test.starts, test.ends,
				got, p.NextRun, p.Problem, len(p.Ticks))
		}
	}
}

// A task is planned from its last edit on, however late a scheduler gets to it.
func TestPlanAfterAnEdit(t *testing.T) {
	timer, err := calendar.Parse("*:0/10")
	if err != nil {
		t.Fatal(err)
	}
	for since, want := range map[time.Time]time.Time{minute(-35): minute(-30), minute(5): minute(10), minute(600): minute(10)} {
		task := &Task{ID: "task", NextRun: Unplanned, Timer: "*:0/10", Since: since}
		if p := task.Decide(timer, Facts{Now: noon}, func(time.Time) string { return "new" }); !p.Due.Equal(want) || len(p.Ticks) > 0 {
			t.Errorf("edited at %s: due %s, want %s", since, p.Due, want)
		}
	}
}

// delayOf is how much later than its due a tick is submitted.
func delayOf(t *testing.T, task *Task, due time.Time) time.Duration {
	t.Helper()
	schedule, err := task.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	return schedule.(timeline).Delay(due)
}

// The scheduler's own jitter does not use up the grace.
func TestGraceBeginsAfterTheJitter(t *testing.T) {
	timer, err := calendar.Parse("*:0/10")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		task := &Task{
			ID: fmt.Sprintf("task-%d", i), Due: noon, Timer: "*:0/10", Jitter: 9 * time.Minute,
			Catchup: CatchupNone, Grace: time.Minute,
		}
		task.NextRun = noon.Add(delayOf(t, task, noon))
		p := task.Decide(timer, Facts{Now: task.NextRun.Add(30 * time.Second)}, func(time.Time) string { return "new" })
		if got := p.Ticks[0].Decision; got != Submitted {
			t.Errorf("%s, %s after its nextrun: %s", task.ID, 30*time.Second, got)
		}
	}
}
