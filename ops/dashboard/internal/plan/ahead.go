package plan

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/figures"
	"github.com/nextrun/nextrun/periodic"
)

// How much of the past and of the future the timeline looks at.
const (
	aheadTasks = 10_000
	aheadTicks = 2000 // of a task; it is taken to go on like that

	sampledRuns    = 3000
	sampledOfGroup = 15_000 // of all groups
	mostElsewhere  = 3000   // ticks of other queues and events
	mostAsked      = 250    // tasks whose newest jobs are read
	mostTook       = 2500   // of these jobs
)

// kin are tasks that elapse at the same times and take about as long.
type kin struct {
	*periodic.Task
	all  []*periodic.Task
	work time.Duration // of all of them at one tick
}

// took is how long one of them takes.
func (k *kin) took() time.Duration { return k.work / time.Duration(len(k.all)) }

// kinOf joins the tasks that elapse at the same times and belong together: to ask a timer once for
// all of them is what makes a page of thousands of tasks fast.
func kinOf(tasks []periodic.Task, usual durations, belongs func(*periodic.Task) string) []*kin {
	type key struct{ of, timer string }
	found, list := map[key]*kin{}, []*kin(nil)
	for i := range tasks {
		t := &tasks[i]
		k := key{belongs(t), t.Timer}
		if strings.HasPrefix(strings.ToLower(t.Timer), "every") {
			k.timer += t.Anchor().String()
		}
		if t.Days.Calendars.HasWindows() {
			k.timer += "\x00 group " + t.Group
		}
		if t.Jitter > 0 || t.Pace.Spread > 0 || !t.Days.Empty() || !t.Starts.IsZero() || !t.Ends.IsZero() || t.Pause.At(t.NextRun) || t.Manual() {
			k.timer += "\x00" + t.ID
		}
		took, _ := usual.of(t)
		if long := bits.Len64(uint64(max(took, 0) / (5 * time.Minute))); long > 0 { // it may overlap the next one
			k.timer += fmt.Sprintf("\x00 %d %s", long, t.Overlap)
		}
		if found[k] == nil {
			found[k] = &kin{Task: t}
			list = append(list, found[k])
		}
		found[k].all = append(found[k].all, t)
		found[k].work += took
	}
	return list
}

// visit is a tick of each of some tasks, or several that come after each other.
type visit struct {
	at    time.Time
	start time.Time // of its job, which may have to wait for the one before
	ticks float64   // how many ticks it is
	runs  float64   // of them: the others are skipped, for the job before is not over
}

// each visits the ticks from a time on that is not before now. One with a very frequent timer is taken to go on as it begins: a
// visit then stands for several ticks of each task.
func (k *kin) each(now, from, until time.Time, do func(visit)) {
	n, first, last := 0, time.Time{}, time.Time{}
	begun, free, took := time.Time{}, time.Time{}, k.took() // of the job before
	single := k.Overlap == periodic.OverlapSkip || k.Overlap == periodic.OverlapQueue
	for u := range periodic.Preview([]periodic.Task{*k.Task}, from.Add(-time.Microsecond), until) {
		at := u.NextRun
		switch {
		case at.Before(from) && from.After(now):
			continue
		case at.Before(from): // it is due
			at = from
		}
		if n++; n == 1 {
			first = at
		}
		if last = at; n > aheadTicks {
			break
		}
		v := visit{at, at, 1, 1}
		if single && free.After(at) {
			v.start = free
			if k.Overlap == periodic.OverlapSkip || begun.After(at) { // one that waits is superseded
				v.runs = 0
			}
		}
		if v.runs > 0 {
			begun, free = v.start, v.start.Add(took)
		}
		do(v)
	}
	if n <= aheadTicks {
		return
	}
	distance := last.Sub(first) / aheadTicks
	step := max(distance, until.Sub(last)/aheadTicks)
	ticks := float64(step) / float64(distance)
	runs := ticks
	if single && took > distance {
		runs /= math.Ceil(float64(took) / float64(distance))
	}
	for at := last; at.Before(until); at = at.Add(step) {
		do(visit{at, at, ticks, runs})
	}
}

// UsualTicks is of how many of the newest ticks of a task the usual duration is.
const UsualTicks = 50

// Usual is how long a task usually takes, for all pages: the median of its jobs that succeeded, of the newest ticks. Fewer than
// three do not tell it.
func Usual(took []time.Duration) (median time.Duration, known bool) {
	if len(took) == 0 {
		return 0, false
	}
	slices.Sort(took)
	return took[len(took)/2], len(took) >= 3
}

// durations are how long the jobs took that succeeded: of tasks, of those of one handler and one timer, of handlers, and of all. Of
// tasks of which none succeeded, they are also how long those took that failed.
type durations map[string][]time.Duration

// keysOf name what a job of a task is like, the likest first.
func keysOf(t *periodic.Task) [5]string {
	return [5]string{"task " + t.ID, "failed " + t.ID, "handler " + t.Task + " timer " + t.Timer, "handler " + t.Task, ""}
}

// durations reads how long the jobs of tasks take, and whether they are those of which the pages say what is usual. Of many tasks, it
// asks about one of each handler and timer.
func (s Pages) durations(ctx context.Context, tasks []periodic.Task) (d durations, usual bool, err error) {
	var ids []string
	asked := map[string]bool{}
	for i := range tasks {
		if t := &tasks[i]; t.Sink == periodic.SinkJob && (len(tasks) <= mostAsked || !asked[keysOf(t)[2]] && len(asked) < mostAsked) {
			ids = append(ids, t.ID)
			asked[keysOf(t)[2]] = true
		}
	}
	n := min(max(mostTook/max(len(ids), 1), 3), UsualTicks)
	own, err := figures.Of(s.DB).Took(ctx, ids, n, "success")
	if err != nil {
		return nil, false, err
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return len(own[id]) > 0 })
	failed, err := figures.Of(s.DB).Took(ctx, ids, n, "failed")
	d = durations{}
	for id, took := range failed {
		d["failed "+id] = took
	}
	for i := range tasks {
		if took := own[tasks[i].ID]; len(took) > 0 {
			for _, key := range keysOf(&tasks[i]) {
				d[key] = append(d[key], took...)
			}
		}
	}
	for _, list := range d {
		slices.Sort(list)
	}
	return d, n == UsualTicks && len(tasks) <= mostAsked, err
}

// of is how long a job of a task takes, and whether it or its handler has run.
func (d durations) of(t *periodic.Task) (took time.Duration, known bool) {
	if t.Sink != periodic.SinkJob { // other executors run it
		return 0, false
	}
	for _, key := range keysOf(t) {
		if list := d[key]; len(list) > 0 {
			return list[len(list)/2], key != ""
		}
	}
	return 0, false
}

// places is how many jobs run at once on the executors that are known to run; 0: none is.
func (s Pages) places(ctx context.Context) (n int, err error) {
	services, err := figures.Of(s.DB).Services(ctx)
	for _, one := range services {
		if one.Kind == figures.Executor && one.Lives {
			n += one.Places
		}
	}
	return n, err
}
