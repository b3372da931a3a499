package originals

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar"
)

// period is a time that a clock runs through.
type period struct{ from, to time.Time }

func days(first string, n int) period {
	from, err := time.Parse(time.DateOnly, first)
	if err != nil {
		panic(err)
	}
	return period{from, from.AddDate(0, 0, n)}
}

// elapses are the minutes in which a timer elapses in some periods. The first minutes of
// a period do not count, since cron may begin between them.
func elapses(t *testing.T, timer string, periods []period) (list []time.Time) {
	t.Helper()
	s, err := calendar.Parse(timer)
	if err != nil {
		t.Fatalf("%q: %v", timer, err)
	}
	for _, p := range periods {
		for at := s.Next(begin(p)); !at.IsZero() && at.Before(p.to); at = s.Next(at) {
			list = append(list, at.UTC())
		}
	}
	return list
}

func begin(p period) time.Time { return p.from.Add(2*time.Minute - time.Nanosecond) }

// within leaves out times outside the periods.
func within(list []time.Time, periods []period) []time.Time {
	return slices.DeleteFunc(slices.Clone(list), func(at time.Time) bool {
		return !slices.ContainsFunc(periods, func(p period) bool { return at.After(begin(p)) && at.Before(p.to) })
	})
}

// difference are the times that only one of two lists has; both are in order.
func difference(a, b []time.Time) (onlyA, onlyB []time.Time) {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Before(b[0]):
			onlyA, a = append(onlyA, a[0]), a[1:]
		case len(a) == 0 || b[0].Before(a[0]):
			onlyB, b = append(onlyB, b[0]), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return onlyA, onlyB
}

// changesNear reports whether the clock of a timer's zone is set soon before or after a time.
func changesNear(t *testing.T, timer string, at time.Time, soon time.Duration) bool {
	t.Helper()
	s, err := calendar.Parse(timer)
	if err != nil {
		t.Fatal(err)
	}
	offset := func(d time.Duration) int {
		_, seconds := at.Add(d).In(calendar.Location(s)).Zone()
		return seconds
	}
	return offset(-soon) != offset(soon)
}

// tally counts what a test compares.
type tally struct {
	name                      string
	taken, refused, elapses   int
	excepted                  map[string]int // by the reason
	differencesOfAllSchedules int
}

func newTally(name string) *tally { return &tally{name: name, excepted: map[string]int{}} }

func (c *tally) log(t *testing.T) {
	t.Helper()
	t.Logf("%s: %d schedules taken by both, %d refused by both, %d elapses compared, %d differences",
		c.name, c.taken, c.refused, c.elapses, c.differencesOfAllSchedules)
	for why, n := range c.excepted {
		t.Logf("%s: %d times: %s", c.name, n, why)
	}
	if c.taken == 0 {
		t.Errorf("%s: nothing was compared", c.name)
	}
}

// same compares the elapses of one schedule, of which the original has some.
func (c *tally) same(t *testing.T, schedule string, ours, originals []time.Time) {
	t.Helper()
	c.elapses += len(originals)
	onlyOurs, onlyOriginals := difference(ours, originals)
	if n := len(onlyOurs) + len(onlyOriginals); n > 0 {
		c.differencesOfAllSchedules += n
		t.Errorf("%s: %q: only nextrun elapses at %v, only the original at %v", c.name, schedule, few(onlyOurs), few(onlyOriginals))
	}
}

// refusal compares whether a schedule is refused, and reports whether its elapses can be
// compared.
func (c *tally) refusal(t *testing.T, schedule string, ours, originals error) bool {
	t.Helper()
	switch {
	case ours != nil && originals != nil:
		c.refused++
		return false
	case (ours == nil) != (originals == nil):
		c.differencesOfAllSchedules++
		t.Errorf("%s: %q: nextrun says %v, the original %v", c.name, schedule, ours, originals)
		return false
	}
	c.taken++
	return true
}

func few(list []time.Time) string {
	text := ""
	for i, at := range list {
		if i == 5 {
			return text + fmt.Sprintf("and %d more ", len(list)-i)
		}
		text += at.Format("2006-01-02T15:04Z ")
	}
	return text
}

// need passes over a test whose program is not here; in CI that is a failure.
func need(t *testing.T, program, packages string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		lacking(t, program, packages)
	}
	return path
}

func lacking(t *testing.T, program, packages string) {
	t.Helper()
	text := fmt.Sprintf("NOT COMPARED with %s, which is not on this machine: apt-get install %s", program, packages)
	if os.Getenv("CI") == "true" {
		t.Fatal(text)
	}
	t.Skip(text)
}

// clock compiles the library that gives a program its own clock.
func clock(t *testing.T, dir string) string {
	t.Helper()
	library := dir + "/clock.so"
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	if text, err := exec.Command(cc, "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-o", library, "clock/clock.c", "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return library
}

// clockOf is the variable that says through which periods the clock runs.
func clockOf(periods []period) string {
	text := ""
	for _, p := range periods {
		text += fmt.Sprintf(",%d-%d", p.from.Unix(), p.to.Unix())
	}
	return "NEXTRUN_CLOCK=" + text[1:]
}
