package periodic

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/periodic/sink"
)

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
		"queue":            {func(t *Task, _ *Facts) { t.Overlap = OverlapQueue }, false, 0},
		"replace":          {func(t *Task, _ *Facts) { t.Overlap = OverlapReplace }, false, 0},
		"a pending job":    {func(_ *Task, f *Facts) { f.Pending = &sink.Pending{JID: "old"} }, false, 0},
		"paused":           {func(t *Task, _ *Facts) { t.Pause.Since = minute(-1) }, false, 0},
		"a pause to come":  {func(t *Task, _ *Facts) { t.Pause.Since = minute(1) }, false, 0},
		"a pause that was": {func(t *Task, _ *Facts) { t.Pause = Pause{Since: minute(-2), Until: minute(-1)} }, false, 0},
		"set by hand":      {func(t *Task, _ *Facts) { t.Due = time.Time{} }, false, 0},
		"ticks before":     {func(t *Task, _ *Facts) { t.Due = minute(-20) }, false, 0},
		"decided already":  {func(_ *Task, f *Facts) { f.Decided = []TickRange{{noon, noon}} }, false, 0},
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
				return Decide(&task, timer, f, func(time.Time) string { return "jid" })
			}
			p := decide(0)
			if p.Plain() != test.plain {
				t.Errorf("plain is %t: %+v", p.Plain(), p)
			}
			if !test.plain {
				return
			}
			if !p.Lasts(noon) || !p.Lasts(noon.Add(test.lasts)) || p.Lasts(noon.Add(-time.Microsecond)) {
				t.Errorf("the plan does not last from noon for %s", test.lasts)
			}
			if later := decide(test.lasts); len(later.Ticks) != 1 || later.Ticks[0].Decision != Submitted || !later.NextRun.Equal(p.NextRun) {
				t.Errorf("another plan after %s: %+v", test.lasts, later)
			}
			if test.lasts < 24*time.Hour && p.Lasts(noon.Add(test.lasts+time.Microsecond)) {
				t.Errorf("the plan lasts longer than %s", test.lasts)
			}
		})
	}
}
