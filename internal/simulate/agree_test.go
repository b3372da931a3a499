package simulate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/simulate"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
)

// TestDaysAgree: for random calendars, timers, policies, skips and moves, preview, simulation and the decisions of a scheduler
// are what a slow computation from day to day says.
func TestDaysAgree(t *testing.T) {
	t.Parallel()
	ticks, seed := 0, rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	want := 100_000
	if testing.Short() {
		want /= 10
	}
	for ticks < want {
		ticks += randomDays(r).agree(t, r, fmt.Sprintf("seed %d", seed))
	}
}

// TestMovedBack: a tick that a window holds, and that somebody moves back to where the timer has it, takes place there.
func TestMovedBack(t *testing.T) {
	t.Parallel()
	begin := time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC)
	c := dayCase{task: periodic.NewTask("t", "x", "*-*-* 18:30"), from: begin, to: begin.AddDate(0, 0, 30), parsed: map[string]calendar.Schedule{}}
	c.task.Overlap = periodic.OverlapAllow
	c.rows = []days.Row{{Name: "w", Scope: days.ScopeAll, Once: true, Timer: "2031-03-23 08:45", Length: 14*time.Hour + 30*time.Minute}}
	c.task.Days.Calendars = days.NewCalendars(c.rows)
	held, timed := begin.AddDate(0, 0, 22).Add(23*time.Hour+15*time.Minute), begin.AddDate(0, 0, 22).Add(18*time.Hour+30*time.Minute)
	c.task.Days.Overrides = []days.Override{{Due: held, To: timed, Created: c.from.AddDate(0, 0, -1)}}
	if lines := c.obvious(t); !slices.Contains(lines, tickLine(timed, time.Time{}, false)) {
		t.Fatalf("the tick is not back: %q", lines)
	}
	c.agree(t, rand.New(rand.NewPCG(1, 1)), "moved back")
}

// agree fails the test if two of the ways differ. It returns how many ticks there are.
func (c dayCase) agree(t *testing.T, r *rand.Rand, name string) int {
	t.Helper()
	lines := c.obvious(t)
	differs := func(what string, got, want []string) {
		t.Helper()
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("%s: %s: the tick %d differs:\n%q\n%q\n%s", name, what, i, got[min(i, len(got)):min(len(got), i+3)], want[min(i, len(want)):min(len(want), i+3)], c)
			}
		}
	}
	task := c.task
	all, err := task.Upcoming(c.from.Add(-time.Microsecond), len(lines)+1)
	if err != nil {
		t.Fatal(err)
	}
	var ahead, taken, previewed, simulated []string
	for _, u := range all {
		if u.Due.Before(c.to) {
			ahead = append(ahead, tickLine(u.Due, u.Nominal, u.LeftOut != ""))
		}
	}
	differs("upcoming", ahead, lines)
	if len(lines) == 0 {
		return 0
	}
	decided := c.decided(t, r)
	differs("the scheduler", decided, lines[:min(len(lines), len(decided))])
	if len(lines) > 20 && len(decided) < len(lines)/2 {
		t.Fatalf("%s: the scheduler decided %d of %d ticks", name, len(decided), len(lines))
	}
	for _, l := range lines {
		if !strings.Contains(l, "skipped") {
			taken = append(taken, l)
		}
	}
	task.Due, task.NextRun = all[0].Due, all[0].NextRun
	for u := range periodic.Preview([]periodic.Task{task}, c.from, c.to) {
		previewed = append(previewed, tickLine(u.Due, u.Nominal, false))
	}
	differs("preview", previewed, taken)
	_, err = simulate.Run(t.Context(), []periodic.Task{task}, simulate.Options{
		Span: simulate.Span{From: c.from, To: c.to},
		Tick: func(tick periodic.Tick) {
			simulated = append(simulated, tickLine(tick.Due, tick.Nominal, tick.Decision == periodic.Skipped))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	differs("the simulation", simulated, lines)
	return len(lines)
}
