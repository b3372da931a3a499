package periodic

import (
	"fmt"
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/periodic/sink"
)

// lasts is Lasts of a plan that was made before noon, and may be used for a day.
func lasts(p *Plan, at time.Time) bool { return p.Lasts(noon.Add(-time.Second), at, 25*time.Hour) }

// A plan that was made late may be used for a time, and so may one that was made ahead.
func TestPlansGrowOld(t *testing.T) {
	p := Plan{Task: &Task{Due: noon, NextRun: noon}, NextRun: minute(10)}
	for _, c := range []struct {
		made, used time.Time
		want       bool
	}{
		{noon.Add(-time.Second), noon.Add(1999 * time.Millisecond), true}, {noon.Add(-time.Second), noon.Add(2 * time.Second), false},
		{minute(5), minute(5).Add(1999 * time.Millisecond), true}, {minute(5), minute(5).Add(2 * time.Second), false},
	} {
		if got := p.Lasts(c.made, c.used, 2*time.Second); got != c.want {
			t.Errorf("made %s, used %s: %t", c.made, c.used, got)
		}
	}
}

// However long a plan may be used, the deadline of a tick that it submits counts: a process that stands still while it reads
// looks like a slow database.
func TestPlanLastsUntilADeadline(t *testing.T) {
	timer, err := calendar.Parse("*:0/10")
	if err != nil {
		t.Fatal(err)
	}
	deadline := 15 * time.Second
	task := Task{ID: "task", Enabled: true, Due: noon, NextRun: noon, Timer: "*:0/10", Overlap: OverlapSkip, Catchup: CatchupOne, Deadline: &deadline}
	made := noon.Add(10 * time.Second)
	p := task.Decide(timer, Facts{Now: made, Worker: "me"}, func(time.Time) string { return "jid" })
	if !p.Lasts(made, noon.Add(deadline), 30*time.Second) || p.Lasts(made, noon.Add(deadline+time.Microsecond), 30*time.Second) {
		t.Errorf("it does not last until %s: %+v", noon.Add(deadline), p)
	}
}

// A plan that was made for the time of its tick is plain only if nothing else decides,
// and it lasts just as long as deciding again gives the same.
func TestPlanMadeAhead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Task, *Facts)
		plain  bool
		lasts  time.Duration // after noon, which is included; the task elapses every ten minutes
	}{
		"nothing else":     {func(*Task, *Facts) {}, true, 10*time.Minute - time.Microsecond},
		"deadline":         {func(t *Task, _ *Facts) { d := 30 * time.Second; t.Deadline = &d }, true, 30 * time.Second},
		"grace":            {func(t *Task, _ *Facts) { t.Catchup, t.Grace = CatchupNone, time.Minute }, true, time.Minute},
		"allow":            {func(t *Task, _ *Facts) { t.Overlap = OverlapAllow }, true, 10*time.Minute - time.Microsecond},
		"catch up all":     {func(t *Task, _ *Facts) { t.Catchup = CatchupAll }, true, 10*time.Minute - time.Microsecond},
		"last tick":        {func(t *Task, _ *Facts) { t.Ends = minute(5) }, true, 24 * time.Hour},
		"queue":            {func(t *Task, _ *Facts) { t.Overlap = OverlapQueue }, true, 10*time.Minute - time.Microsecond},
		"replace":          {func(t *Task, _ *Facts) { t.Overlap = OverlapReplace }, true, 10*time.Minute - time.Microsecond},
		"a pending job":    {func(_ *Task, f *Facts) { f.Pending = &sink.Pending{JID: "old"} }, false, 0},
		"paused":           {func(t *Task, _ *Facts) { t.Pause.Since = minute(-1) }, false, 0},
		"a pause to come":  {func(t *Task, _ *Facts) { t.Pause.Since = minute(1) }, false, 0},
		"a pause that was": {func(t *Task, _ *Facts) { t.Pause = Pause{Since: minute(-2), Until: minute(-1)} }, false, 0},
		"a calendar":       {func(t *Task, _ *Facts) { t.Days.Exclude = "c" }, false, 0},
		"set by hand":      {func(t *Task, _ *Facts) { t.Due = time.Time{} }, false, 0},
		"ticks before":     {func(t *Task, _ *Facts) { t.Due = minute(-20) }, false, 0},
		"decided already":  {func(_ *Task, f *Facts) { f.Decided = []Range{{noon, noon}} }, false, 0},
		"not planned":      {func(t *Task, _ *Facts) { t.Due, t.NextRun = time.Time{}, Unplanned }, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			timer, err := calendar.Parse("*:0/10")
			if err != nil {
				t.Fatal(err)
			}
			task := Task{ID: "task", Enabled: true, Due: noon, NextRun: noon, Timer: "*:0/10", Overlap: OverlapSkip, Catchup: CatchupOne}
			f := Facts{Now: noon, Worker: "me"}
			test.change(&task, &f)
			decide := func(at time.Duration) Plan {
				f.Now = noon.Add(at)
				return task.Decide(timer, f, func(time.Time) string { return "jid" })
			}
			p := decide(0)
			if p.Plain() != test.plain {
				t.Errorf("plain is %t: %+v", p.Plain(), p)
			}
			if !test.plain {
				return
			}
			if !lasts(&p, noon) || !lasts(&p, noon.Add(test.lasts)) || lasts(&p, noon.Add(-time.Microsecond)) {
				t.Errorf("the plan does not last from noon for %s", test.lasts)
			}
			if later := decide(test.lasts); len(later.Ticks) != 1 || later.Ticks[0].Decision != Submitted || !later.NextRun.Equal(p.NextRun) {
				t.Errorf("another plan after %s: %+v", test.lasts, later)
			}
			if test.lasts < 24*time.Hour && lasts(&p, noon.Add(test.lasts+time.Microsecond)) {
				t.Errorf("the plan lasts longer than %s", test.lasts)
			}
		})
	}
}

// Ticks that no scheduler saw are skipped if they fell due during the pause, and else missed.
func TestTicksOfAPauseThatNoSchedulerSaw(t *testing.T) {
	t.Parallel()
	hour := func(h int) time.Time { return time.Date(2026, 3, 1, h, 0, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		pause   Pause
		catchup Catchup
		want    string
	}{
		"not paused":              {Pause{}, CatchupOne, "1 missed 8; 9 submitted 0; "},
		"all the time":            {Pause{Since: hour(0)}, CatchupOne, "1 skipped 8; 9 skipped 0; "},
		"since three":             {Pause{Since: hour(3)}, CatchupOne, "1 missed 2; 3 skipped 6; 9 skipped 0; "},
		"it has ended":            {Pause{Since: hour(0), Until: hour(5)}, CatchupOne, "1 skipped 4; 5 missed 4; 9 submitted 0; "},
		"in between":              {Pause{Since: hour(3).Add(-time.Minute), Until: hour(6).Add(time.Minute)}, CatchupNone, "1 missed 2; 3 skipped 4; 7 missed 3; "},
		"in none, until the last": {Pause{Since: hour(0)}, CatchupNone, "1 skipped 9; "},
		"between two ticks":       {Pause{Since: hour(3).Add(time.Minute), Until: hour(4)}, CatchupNone, "1 missed 3; 4 missed 6; "},
	} {
		one := Task{ID: "t", Enabled: true, Timer: "hourly", Due: hour(1), NextRun: hour(1), Pause: c.pause, Catchup: c.catchup, Created: hour(0)}
		timer, err := calendar.Parse("hourly")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, k := range one.Decide(timer, Facts{Now: hour(9).Add(30 * time.Minute)}, func(time.Time) string { return "j" }).Ticks {
			got += fmt.Sprintf("%d %s %d; ", k.Due.Hour(), k.Decision, k.Missed)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestDecideLimitsCatchup(t *testing.T) {
	p := situation{due: -10 * 600, catchup: CatchupAll, overlap: OverlapAllow}.decide(t)
	if len(p.Ticks) != maxCatchup {
		t.Errorf("%d ticks in one batch", len(p.Ticks))
	}
	if want := minute(-10 * 500); !p.Due.Equal(want) || !p.NextRun.Equal(want) {
		t.Errorf("goes on at %s and not with the next tick, %s", p.Due, want)
	}
}

// Of very many recorded ticks the oldest are known: the plan goes that far, and
// the next batch goes on from there.
func TestDecideLimitsLookBack(t *testing.T) {
	s := situation{due: -10 * 5 * MaxDecided, hand: true, overlap: OverlapAllow}
	for m := range MaxDecided {
		at := float64(-10 * (4*MaxDecided - m))
		s.decided = append(s.decided, [2]float64{at, at})
	}
	want := fmt.Sprintf("-50000 submitted, -49990 missed %d until -40010, next -30000", MaxDecided-1)
	if got := s.decide(t).text(); got != want {
		t.Errorf("\n got  %s\n want %s", got, want)
	}
}

// A batch of many tasks takes fewer ticks of each.
func TestDecideLimitsTheBatch(t *testing.T) {
	timer, err := calendar.Parse("*:0/10")
	if err != nil {
		t.Fatal(err)
	}
	task := &Task{ID: "task", Due: minute(-1000), NextRun: minute(-1000), Timer: "*:0/10", Catchup: CatchupAll, Overlap: OverlapAllow}
	p := task.Decide(timer, Facts{Now: noon, Most: 20}, func(time.Time) string { return "new" })
	if len(p.Ticks) != 20 || !p.Due.Equal(minute(-800)) {
		t.Errorf("%d ticks, next due %s", len(p.Ticks), p.Due)
	}
}
