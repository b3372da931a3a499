package originals

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules/timer"
)

const iterations = 20

// inSystemd asks systemd-analyze for the elapses of a calendar event after a time, on a
// machine in a zone.
func inSystemd(t *testing.T, event, zone string, after time.Time) (list []time.Time, refused error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "systemd-analyze", "calendar", fmt.Sprintf("--iterations=%d", iterations),
		"--base-time="+after.Format("2006-01-02 15:04:05 UTC"), "--", event)
	c.Env = append(os.Environ(), "TZ="+zone, "LC_ALL=C")
	text, err := c.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		t.Fatal(err)
	}
	local := time.Time{}
	for line := range strings.Lines(string(text)) {
		label, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch label = strings.TrimSpace(label); {
		case value == "never":
		case label == "(in UTC)": // the line before has the local time
			list[len(list)-1] = stamp(t, value)
		case label == "Next elapse", strings.HasPrefix(label, "Iter. #"):
			if strings.HasSuffix(value, " UTC") {
				local = stamp(t, value)
			}
			list = append(list, local)
		}
	}
	return list, nil
}

func stamp(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse("Mon 2006-01-02 15:04:05 UTC", text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// events are calendar events as units have them.
var events = strings.Split(`daily
hourly
weekly
monthly
quarterly
semiannually
yearly
*-*-* 6,18:00
*-*-* 6:00
*-*-* 00,12:00:00
*-*-* 0/12:00:00
Sun *-*-* 03:10:00
Mon..Fri 09:00
Mon,Wed,Fri *-*-* 07:30
*:00/10
*:09,39
*-*-* *:0/15
*-*-01 04:00:00
*-*~01 23:00
Mon *-*~07/1 02:00
Sat *-*-01..07 18:00
*-1,4,7,10-1 05:00
2026-12-24 18:00
*-*-* 02:30:00
*-*-* 02:30 Europe/Berlin
*-*-* 12:00 America/New_York
Sat..Sun 10..20/2:30
*-02-29
*-*-31 12:00
@1798761600
23:59:59
*:*:0/20
nonsense
*-*-32
25:00
Mon..
*/2 * * * *
*-*-* 12:00 Mars/Olympus`, "\n")

// event is a random one. It repeats nothing, since systemd before 259 loses elapses of
// repetitions (issue 40260); testdata/calendar has those.
func (g *generator) event() string {
	pick := func(choices ...string) string { return choices[g.IntN(len(choices))] }
	number := func(low, high int) string {
		a, b := low+g.IntN(high-low+1), low+g.IntN(high-low+1)
		return pick(fmt.Sprint(a), fmt.Sprintf("%d,%d", a, b), fmt.Sprintf("%d..%d", min(a, b), max(a, b)), "*", "*")
	}
	text := pick("", "", "Mon ", "Tue..Thu ", "Sat,Sun ", "Fri,Mon ") +
		pick("*", "*", "2026..2028") + "-" + number(1, 12) + pick("-", "-", "-", "~") + number(1, 28) + " " + number(0, 23) + ":" + number(0, 59)
	text += pick("", "", ":00", ":30", ":15,45")
	if g.IntN(10) == 0 {
		i := g.IntN(len(text))
		text = text[:i] + pick("x", "*", "-", ".", "/", " ", "99", "~") + text[i+1:]
	}
	return text + pick("", "", "", " UTC", " Asia/Tokyo", " Europe/Berlin")
}

// timerOf is the timer that a .timer with an event is imported as.
func timerOf(t *testing.T, event, zone string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.timer"), []byte("[Timer]\nOnCalendar="+event+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	items, err := timer.Kind{}.Read([]string{dir}, schedules.Options{Zone: zone})
	if err != nil || len(items) != 1 {
		t.Fatalf("%q: %+v, %v", event, items, err)
	}
	if items[0].Entry == nil {
		return "", errors.New(items[0].Refused)
	}
	return items[0].Entry.Task.Timer, nil
}

// systemd takes and refuses the same calendar events, and they elapse at the same times.
// Local times that a change of the clock skips or repeats are the exception.
func TestSystemd(t *testing.T) {
	need(t, "systemd-analyze", "systemd")
	counts := newTally("systemd")
	g := generator{rand.New(rand.NewPCG(17, 5))}
	list := append([]string{}, events...)
	for range 300 {
		list = append(list, g.event())
	}
	for i, event := range list {
		zone := []string{"Europe/Berlin", "UTC", "America/New_York", "Asia/Kolkata"}[i%4]
		from := time.Unix(1_767_225_600+g.Int64N(63_000_000), 0).UTC()
		if i%5 == 0 {
			from = []time.Time{time.Date(2026, 3, 28, 22, 0, 0, 0, time.UTC), time.Date(2026, 10, 24, 22, 0, 0, 0, time.UTC)}[g.IntN(2)]
		}
		ours, err := timerOf(t, event, zone)
		theirs, refused := inSystemd(t, event, zone, from)
		if err == nil && refused != nil && daysFromTheEnd.MatchString(event) {
			counts.excepted["systemd refuses some lists of days from the end of the month, by mistake; nextrun takes them"]++
			continue
		}
		if counts.refusal(t, event, err, refused) {
			counts.compareSystemd(t, event, ours, from, theirs)
		}
	}
	counts.log(t)
}

var daysFromTheEnd = regexp.MustCompile(`~[0-9]+,[0-9]+ `)

// The timers of this machine are imported as they elapse.
func TestSystemdsOwnTimers(t *testing.T) {
	need(t, "systemd-analyze", "systemd")
	counts := newTally("systemd's timers on this machine")
	const dir = "/usr/lib/systemd/system"
	items, err := timer.Kind{}.Read([]string{dir}, schedules.Options{Zone: "Europe/Berlin"})
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	for _, item := range items {
		if item.Entry == nil {
			counts.excepted["refused, as it counts from an event or is a template: "+item.Source]++
			continue
		}
		_, event, _ := strings.Cut(item.Source, "OnCalendar=")
		theirs, refused := inSystemd(t, event, "Europe/Berlin", from)
		if counts.refusal(t, event, nil, refused) {
			counts.compareSystemd(t, event, item.Entry.Task.Timer, from, theirs)
		}
	}
	counts.log(t)
}

func (c *tally) compareSystemd(t *testing.T, event, timer string, from time.Time, theirs []time.Time) {
	t.Helper()
	p := period{from.Add(-2*time.Minute + time.Nanosecond), from.AddDate(3, 0, 0)}
	theirs = within(theirs, []period{p})
	if len(theirs) == iterations {
		p.to = theirs[iterations-1].Add(time.Nanosecond)
	}
	ours := elapses(t, timer, []period{p})
	onlyOurs, onlyTheirs := difference(ours, theirs)
	for _, at := range append(onlyOurs, onlyTheirs...) {
		if !changesNear(t, timer, at, 3*time.Hour) {
			c.same(t, event, ours, theirs)
			return
		}
		c.excepted["near a change of the clock: systemd leaves a local time out that is skipped, or repeats one"]++
	}
	c.elapses += len(theirs)
}
