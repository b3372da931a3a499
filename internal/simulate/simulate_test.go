package simulate_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/simulate"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/nextruntest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// What is simulated is what the scheduler does, on a real database: for all policies, with
// outages, jobs of all lengths, deadlines, jitter and changes of the clock.
// NEXTRUN_SOAK_SIMULATE_SEEDS makes it longer.
func TestLikeTheScheduler(t *testing.T) {
	t.Parallel()
	seeds := uint64(2)
	if text := os.Getenv("NEXTRUN_SOAK_SIMULATE_SEEDS"); text != "" {
		var err error
		if seeds, err = strconv.ParseUint(text, 10, 32); err != nil {
			t.Fatal(err)
		}
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			compare(t, rand.New(rand.NewPCG(seed, 7)))
		})
	}
}

var (
	timers = []string{"*-*-* *:00/20", "hourly", "*-*-* *:10 Europe/Berlin", "every 35m", "*-*-* 02:30 Europe/Berlin", "*/7 * * * *",
		"*:50; every 45m"}
	takes = []time.Duration{0, time.Minute, 20 * time.Minute, 25 * time.Minute, 3 * time.Hour}
)

func length(tk *periodic.Task, begins time.Time) time.Duration {
	return takes[(len(tk.Timer)+begins.Hour()/6)%len(takes)]
}

// compare simulates twice: tasks that no scheduler has seen, and the same tasks two days
// later, as the scheduler, people and jobs have left them.
func compare(t *testing.T, r *rand.Rand) {
	t.Helper()
	from := time.Date(2026, 3, 28, 18, 0, 0, 0, time.UTC) // clocks change in the night
	var tasks []periodic.Task
	for i := range 8 {
		tk := periodic.NewTask(fmt.Sprint("t", i), "x", timers[r.IntN(len(timers))])
		tk.Overlap = []periodic.Overlap{periodic.OverlapSkip, periodic.OverlapQueue, periodic.OverlapReplace, periodic.OverlapAllow}[r.IntN(4)]
		tk.Catchup = []periodic.Catchup{periodic.CatchupOne, periodic.CatchupNone, periodic.CatchupAll}[r.IntN(3)]
		tk.Grace = time.Duration(r.IntN(3)) * 15 * time.Minute
		if r.IntN(3) == 0 {
			deadline := time.Duration(10+r.IntN(60)) * time.Minute
			tk.Deadline = &deadline
		}
		tk.Jitter = time.Duration(r.IntN(3)) * 100 * time.Second
		tk.Pace.Spread = time.Duration(r.IntN(3)) * 1000 * time.Second
		tk.Pace.CatchupLimit, tk.Pace.CatchupDelay = r.IntN(3)*2, time.Duration(r.IntN(3))*90*time.Second
		tk.Pace.MaxTicks = r.IntN(4) / 3 * 15
		tasks = append(tasks, tk)
	}
	ends := map[string]time.Time{} // of jobs, by task and due
	var s *nextruntest.Schedule
	s = nextruntest.New(t, nextruntest.Options{Start: from, Takes: func(tk periodic.Task, due time.Time) (time.Duration, jobqueue.State) {
		took := length(&tk, s.Now())
		ends[tk.ID+due.String()] = s.Now().Add(took)
		return took, jobqueue.Success
	}})
	o := span(from, r)
	for i := range tasks {
		tasks[i].Created = from // as the table sets it
	}
	s.Add(tasks...)
	same(t, s, tasks, o)
	for i := range tasks {
		disturb(s, tasks[i].ID, r)
	}
	s.Advance(time.Duration(r.IntN(120)) * time.Minute / 2) // some are due now, of some a job runs
	if r.IntN(2) == 0 {
		s.Exec(`UPDATE job SET state = 'stuck' WHERE tracker = 't1' AND state = 'running'`) // it waits for a retry
	}
	o = span(s.Now(), r)
	if r.IntN(2) == 0 { // nobody has scheduled for a while: much is overdue
		o = span(s.Now().Add(3*time.Hour+7*time.Minute), r)
		o.Outages = append(o.Outages, simulate.Span{From: s.Now(), To: o.From})
	}
	o.Open, o.Queued = map[string][]simulate.Open{}, map[string][]time.Time{}
	var err error
	if tasks, err = periodic.NewTasks(s.DB().Tasks()).List(t.Context(), periodic.TaskFilter{}); err != nil {
		t.Fatal(err)
	}
	for _, j := range s.Jobs("") {
		end := ends[j.Tracker+j.Due.String()]
		open := simulate.Open{Pending: sink.Pending{JID: j.JID, State: j.State, Due: j.Due, Started: j.Started}, Begins: j.Started, Ends: end}
		if open.State == jobqueue.Stuck {
			open.Begins = end
		}
		if !j.State.Final() && end.After(o.From) {
			o.Open[j.Tracker] = append(o.Open[j.Tracker], open)
		}
	}
	for _, k := range s.Ticks("") {
		if k.Decision == periodic.Queued {
			o.Queued[k.TaskID] = append(o.Queued[k.TaskID], k.Due)
		}
	}
	same(t, s, tasks, o)
}

// span is 20 hours with an outage of four.
func span(from time.Time, r *rand.Rand) (o simulate.Options) {
	o.From, o.To = from, from.Add(20*time.Hour)
	o.Outages = []simulate.Span{{From: from.Add(5*time.Hour + 7*time.Minute), To: from.Add(9*time.Hour + time.Duration(r.IntN(60))*time.Minute)}}
	return o
}

// disturb does to a task what people do.
func disturb(s *nextruntest.Schedule, id string, r *rand.Rand) {
	switch r.IntN(8) {
	case 0:
		s.Exec(`UPDATE periodic_task SET paused = $1 WHERE id = $2`, sqldb.Timestamp(s.Now()), id)
	case 1:
		s.Exec(`UPDATE periodic_task SET paused = $1, paused_until = $2 WHERE id = $3`, sqldb.Timestamp(s.Now()),
			sqldb.Timestamp(s.Now().Add(3*time.Hour+time.Duration(r.IntN(60))*time.Minute)), id)
	case 2:
		s.Exec(`UPDATE periodic_task SET enabled = false WHERE id = $1`, id)
	case 3:
		s.Exec(`UPDATE periodic_task SET nextrun = $1 WHERE id = $2`, sqldb.Timestamp(s.Now().Add(90*time.Minute)), id)
	case 5: // paused after failures
		s.Exec(`UPDATE periodic_task SET paused = $1, paused_until = $2, paused_by = 'nextrun', pause_after = 2, probe_delay = 600, failures = 3 WHERE id = $3`,
			sqldb.Timestamp(s.Now()), sqldb.Timestamp(s.Now().Add(time.Duration(r.IntN(240))*time.Minute)), id)
	case 4:
		s.Exec(`UPDATE periodic_task SET overlap = 'queue', catchup = 'all' WHERE id = $1`, id)
	}
}

// same compares the simulation with the scheduler, which goes on meanwhile.
func same(t *testing.T, s *nextruntest.Schedule, tasks []periodic.Task, o simulate.Options) {
	t.Helper()
	o.Takes = length
	got, want := simulated(t, tasks, o), scheduled(s, o)
	if !slices.Equal(got, want) {
		t.Errorf("from %s: simulated, but not scheduled:\n%s\nscheduled, but not simulated:\n%s", o.From, without(got, want), without(want, got))
	}
	if len(want) < 50 {
		t.Errorf("only %d ticks", len(want))
	}
}

// describe leaves out what differs by nature: ids of jobs.
func describe(k periodic.Tick) string {
	return fmt.Sprintf("%s %s %s %d %s", k.TaskID, k.Due.UTC().Format(time.DateTime), k.Decision, k.Missed, k.Decided.UTC().Format(time.DateTime))
}

func simulated(t *testing.T, tasks []periodic.Task, o simulate.Options) (lines []string) {
	t.Helper()
	last := map[periodic.TickKey]string{}
	o.Tick = func(k periodic.Tick) { last[k.Key()] = describe(k) }
	if _, err := simulate.Run(t.Context(), tasks, o); err != nil {
		t.Fatal(err)
	}
	for _, line := range last {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

func scheduled(s *nextruntest.Schedule, o simulate.Options) (lines []string) {
	for _, out := range slices.Backward(o.Outages) { // the earliest is the last
		if out.From.After(s.Now()) {
			s.Advance(out.From.Add(-time.Microsecond).Sub(s.Now()))
		}
		s.Outage(out.To.Sub(s.Now()))
	}
	s.Advance(o.To.Add(-time.Microsecond).Sub(s.Now()))
	s.RequireGuarantees()
	for _, k := range s.Ticks("") {
		if !k.Decided.Before(o.From) {
			lines = append(lines, describe(k))
		}
	}
	slices.Sort(lines)
	return lines
}

func without(a, b []string) (text string) {
	for _, line := range a {
		if !slices.Contains(b, line) {
			text += line + "\n"
		}
	}
	return text
}
