package periodic

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar"
)

// moved is a timer whose zone has other rules than that of noon, UTC, by so many hours.
func moved(t *testing.T, days string, hours int) calendar.Schedule {
	t.Helper()
	timer, err := calendar.Parse(fmt.Sprintf("%s 12:00 %+03d:00", days, -hours))
	if err != nil {
		t.Fatal(err)
	}
	return timer
}

// A planned tick is compared with the timer when it is decided: one that its zone's new rules do not have any more is planned anew.
func TestNewZoneData(t *testing.T) {
	t.Parallel()
	const daily, yearly = "*-*-*", "*-03-10"
	const tomorrow = 24 * 60
	hand := func(k *Task) { k.Due = time.Time{} }
	for name, c := range map[string]struct {
		days    string
		hours   int     // by which the tick has moved
		now     float64 // minutes after the planned tick
		decided []float64
		change  func(*Task)
		want    string
	}{
		"unchanged":                      {daily, 0, 0, nil, nil, "0 submitted, next 1440"},
		"daily, later":                   {daily, 1, 0, nil, nil, "next 60"},
		"daily, earlier":                 {daily, -1, 0, nil, nil, "-60 submitted, next 1380"},
		"yearly, later":                  {yearly, 1, 0, nil, nil, "next 60"},
		"yearly, earlier":                {yearly, -1, 0, nil, nil, fmt.Sprintf("-60 submitted, next %d", 365*tomorrow-60)},
		"later, and that is due":         {yearly, 1, 61, nil, nil, fmt.Sprintf("60 submitted, next %d", 365*tomorrow+60)},
		"earlier, and decided":           {daily, -1, 0, []float64{-60}, nil, "next 1380"},
		"later, and decided":             {yearly, 1, 90, []float64{-365 * tomorrow, 60}, nil, fmt.Sprintf("next %d", 365*tomorrow+60)},
		"by three hours":                 {daily, 3, 0, nil, nil, "next 180"},
		"earlier than the last edit":     {daily, -1, 0, nil, func(k *Task) { k.Since = minute(-30) }, "next 1380"},
		"later than the last edit":       {daily, -1, 0, nil, func(k *Task) { k.Since = minute(-90) }, "-60 submitted, next 1380"},
		"an edit after the clock's now":  {daily, -1, 0, nil, func(k *Task) { k.Since = minute(30) }, "-60 submitted, next 1380"},
		"no scheduler ran for two days":  {daily, 1, 2 * tomorrow, nil, nil, "60 missed 1 until 60, 1500 submitted, next 2940"},
		"set by hand":                    {daily, 1, 0, nil, hand, "0 submitted, next 60"},
		"while a job runs, overlap skip": {daily, -1, 0, nil, func(k *Task) { k.Overlap = OverlapSkip }, "-60 submitted, next 1380"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task := &Task{ID: "task", Enabled: true, Due: noon, NextRun: noon, Timer: "of the zone"}
			if c.change != nil {
				c.change(task)
			}
			f := Facts{Now: minute(c.now), Worker: "me"}
			for _, m := range c.decided {
				f.Decided = append(f.Decided, Range{minute(m), minute(m)})
			}
			p := task.Decide(moved(t, c.days, c.hours), f, func(time.Time) string { return "new" })
			if got := p.text(); got != c.want {
				t.Errorf("\n got  %s\n want %s", got, c.want)
			}
			if c.hours != 0 && p.Plain() {
				t.Error("the plan may be made ahead")
			}
		})
	}
}

// Of processes with different zone data, now this one decides and now that one: each day, or year, has one tick.
func TestProcessesWithDifferentZoneData(t *testing.T) {
	t.Parallel()
	for _, days := range []string{"*-*-*", "*-03-10"} {
		for _, hours := range []int{1, -1, 3, -3} {
			for seed := range uint64(20) {
				random := rand.New(rand.NewPCG(seed, uint64(hours+3)))
				processes := []calendar.Schedule{moved(t, days, 0), moved(t, days, hours)}
				task := &Task{ID: "task", Enabled: true, Due: noon, NextRun: noon, Timer: "of the zone", Overlap: OverlapAllow}
				var decided []time.Time
				for range 300 {
					f := Facts{Now: task.NextRun.Add(time.Duration(random.IntN(int(time.Hour)))), Worker: "me"}
					for _, due := range decided[max(0, len(decided)-3):] {
						f.Decided = append(f.Decided, Range{due, due})
					}
					p := task.Decide(processes[random.IntN(2)], f, func(time.Time) string { return "new" })
					for _, tick := range p.Ticks {
						decided = append(decided, tick.Due)
					}
					task.Due, task.NextRun = p.Due, p.NextRun
				}
				if len(decided) < 100 {
					t.Fatalf("%s by %d hours: only %d ticks", days, hours, len(decided))
				}
				for i, due := range decided {
					want := noon.AddDate(0, 0, i)
					if days != "*-*-*" {
						want = noon.AddDate(i, 0, 0)
					}
					if apart := due.Sub(want); apart != 0 && apart != time.Duration(hours)*time.Hour {
						t.Fatalf("%s by %d hours, seed %d: tick %d is that of %s, want about %s", days, hours, seed, i, due, want)
					}
				}
			}
		}
	}
}
