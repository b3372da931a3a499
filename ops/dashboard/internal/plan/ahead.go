package plan

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// How much of the past and of the future the pages of many tasks look at.
const (
	aheadTasks = 10_000
	aheadTicks = 2000 // of a task; it is taken to go on like that

	sampledRuns    = 3000
	sampledTimes   = 1500   // where only their durations matter
	sampledOfGroup = 15_000 // of all groups
)

// kin are tasks that elapse at the same times.
type kin struct {
	*periodic.Task
	ids  []string
	work time.Duration // of all of them at one tick
}

// kinOf joins the tasks that elapse at the same times and belong together: to ask a timer once for
// all of them is what makes a page of thousands of tasks fast.
func kinOf(tasks []periodic.Task, usual *durations, belongs func(*periodic.Task) string) []*kin {
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
		if found[k] == nil {
			found[k] = &kin{Task: t}
			list = append(list, found[k])
		}
		found[k].ids = append(found[k].ids, t.ID)
		took, _ := usual.of(t)
		found[k].work += took
	}
	return list
}

// each visits the ticks from a time on that is not before now. One with a very frequent timer is taken to go on as it begins: a
// visit then stands for several ticks of each task, so many of them in one minute.
func (k *kin) each(now, from, until time.Time, visit func(at time.Time, ticks, inMinute float64)) {
	n, first, last := 0, time.Time{}, time.Time{}
	for u := range periodic.Preview([]periodic.Task{*k.Task}, from, until) {
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
		visit(at, 1, 1)
	}
	if n <= aheadTicks {
		return
	}
	distance := last.Sub(first) / aheadTicks
	step := max(distance, until.Sub(last)/aheadTicks)
	ticks := float64(step) / float64(distance)
	for at := last; at.Before(until); at = at.Add(step) {
		visit(at, ticks, max(1, min(ticks, float64(time.Minute)/float64(distance))))
	}
}

// durations are how long runs usually take: those of a task, else of its handler, else of all.
type durations struct{ took map[string][]time.Duration }

const anyRun = ""

func durationsOf(runs []store.SampledRun) *durations {
	d := &durations{map[string][]time.Duration{}}
	for _, r := range runs {
		if took := r.Finished.Sub(r.Started); !r.Finished.IsZero() && took >= 0 {
			for _, key := range []string{"task " + r.TaskID, "handler " + r.Handler, anyRun} {
				d.took[key] = append(d.took[key], took)
			}
		}
	}
	for _, list := range d.took {
		slices.Sort(list)
	}
	return d
}

// of is how long a job of a task takes, and whether it or its handler has run.
func (d *durations) of(t *periodic.Task) (took time.Duration, known bool) {
	if t.Sink != periodic.SinkJob { // somebody else's executors run it
		return 0, false
	}
	for _, key := range []string{"task " + t.ID, "handler " + t.Task, anyRun} {
		if list := d.took[key]; len(list) > 0 {
			return list[len(list)/2], key != anyRun
		}
	}
	return 0, false
}

// places is how many jobs run at once on the executors that are known to run; 0: none is.
func (s Pages) places(ctx context.Context) (n int, err error) {
	services, err := s.DB.Figures().Services(ctx)
	for _, one := range services {
		if one.Kind == store.Executor && one.Lives {
			n += one.Places
		}
	}
	return n, err
}
