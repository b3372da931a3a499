package originals

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules/crontab"
)

// runCron gives cron a directory like /etc/cron.d and lets its clock run through some
// periods. It returns the times of each command, and the files that it refuses.
func runCron(t *testing.T, zone string, files map[string]string, periods []period) (started map[string][]time.Time, refused map[string]error) {
	t.Helper()
	cron := need(t, "/usr/sbin/cron", "cron")
	root := t.TempDir()
	for _, dir := range []string{"etc/cron.d", "var/spool/cron/crontabs", "var/run", "run"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	files["../crontab"] = ""
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, "etc/cron.d", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(root, "log")
	c := exec.CommandContext(t.Context(), cron, "-f")
	c.Env = append(os.Environ(), "LC_ALL=C", "TZ="+zone, "LD_PRELOAD="+clock(t, root), clockOf(periods), "NEXTRUN_CLOCK_LOG="+log, "NEXTRUN_CLOCK_ROOT="+root)
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("cron: %v\n%s", err, text)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return readCron(t, string(text))
}

var (
	command  = regexp.MustCompile(`^(\d+)\t\(root\) CMD \((\w+)\)$`)
	badField = regexp.MustCompile(`^\d+\tError: (.*); while reading .*/(\w+)$`)
)

func readCron(t *testing.T, log string) (started map[string][]time.Time, refused map[string]error) {
	started, refused = map[string][]time.Time{}, map[string]error{}
	for line := range strings.Lines(log) {
		line = strings.TrimSuffix(line, "\n")
		if m := command.FindStringSubmatch(line); m != nil {
			seconds, err := strconv.ParseInt(m[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			started[m[2]] = append(started[m[2]], time.Unix(seconds, 0).UTC().Truncate(time.Minute))
		} else if m := badField.FindStringSubmatch(line); m != nil {
			refused[m[2]] = errors.New(m[1])
		} else if strings.Contains(line, "CMD") {
			t.Errorf("cron's message is not understood: %q", line)
		}
	}
	return started, refused
}

func id(i int) string { return fmt.Sprintf("s%d", i) }

// timerOfLine is the timer that a line of a crontab is imported as.
func timerOfLine(expression, zone string) (string, error) {
	items := crontab.Parse("crontab", expression+" root x\n", schedules.Options{Zone: zone, System: true})
	if len(items) != 1 {
		return "", fmt.Errorf("%d items", len(items))
	}
	if items[0].Entry == nil {
		return "", errors.New(items[0].Refused)
	}
	return items[0].Entry.Task.Timer, nil
}

// carelessness is why cron takes an expression that nextrun refuses: what cron makes of it
// is hardly what was meant.
func carelessness(refusal string) string {
	switch {
	case strings.Contains(refusal, "ends before it starts"):
		return "cron takes a range that ends before it starts, and never elapses in it; nextrun refuses it"
	case strings.Contains(refusal, "expected a"), strings.Contains(refusal, "cron knows no"), strings.Contains(refusal, "is not in 0..59"):
		return "cron passes over what stands behind a number or a star, or over digits that are too many; nextrun refuses it"
	}
	return ""
}

// cronie's sign is a - in front of a line, where Debian's cron wants a minute.
const cronieSign = "the - in front of a line is taken, as by cronie; Debian's cron refuses it"

// cron takes and refuses the same expressions, and starts commands at the same minutes.
func TestCron(t *testing.T) {
	const zone = "Europe/Berlin"
	list := expressions(150)
	counts := newTally("cron")
	files := map[string]string{}
	for i, expression := range list {
		files[id(i)] = expression + " root " + id(i) + "\n"
	}
	_, refused := runCron(t, zone, files, []period{{time.Unix(1e9, 0), time.Unix(1e9+60, 0)}})
	timers := map[string]string{}
	all := ""
	for i, expression := range list {
		timer, err := timerOfLine(expression, zone)
		switch {
		case err != nil && refused[id(i)] == nil && carelessness(err.Error()) != "":
			counts.excepted[carelessness(err.Error())]++
		case err == nil && refused[id(i)] != nil && expression[0] == '-':
			counts.excepted[cronieSign]++
		case counts.refusal(t, expression, err, refused[id(i)]):
			timers[expression] = timer
			all += expression + " root " + id(i) + "\n"
		}
	}
	for i, expression := range neverElapse {
		all += expression + " root never" + id(i) + "\n"
	}
	periods := []period{days("2026-01-31", 2), days("2028-02-29", 1)}
	started, _ := runCron(t, zone, map[string]string{"all": all}, periods)
	for i, expression := range list {
		if timer := timers[expression]; timer != "" {
			counts.same(t, expression, elapses(t, timer, periods), within(started[id(i)], periods))
		}
	}
	for i, expression := range neverElapse {
		if at := started["never"+id(i)]; len(at) > 0 {
			t.Errorf("%q: cron elapses at %v", expression, few(at))
		}
	}
	counts.log(t)
}

// neverElapse are expressions that cron takes, and that never elapse.
var neverElapse = []string{"10-5 * * * *", "* 22-2 * * *", "* * * * 5-1", "* * * * mon-sun", "* * * nov-feb *"}

// Where clocks are set forward or back, cron and nextrun differ, in the hours next to the
// change only; and what elapses at a fixed time of the day does so as often with both.
func TestCronWhereClocksChange(t *testing.T) {
	const zone = "Europe/Berlin"
	changes := []time.Time{time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC), time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC)}
	var list []string
	for _, hour := range []string{"0", "1", "2", "3", "4", "1-3", "2,12", "*/2", "*"} {
		for _, minute := range []string{"0", "30", "59", "0,30", "*/20", "10,50"} {
			list = append(list, minute+" "+hour+" * * *")
		}
	}
	all := ""
	for i, expression := range list {
		all += expression + " root " + id(i) + "\n"
	}
	counts := newTally("cron, where clocks change")
	for _, change := range changes {
		periods := []period{{change.Add(-26 * time.Hour), change.Add(26 * time.Hour)}}
		near := func(at time.Time) bool {
			return at.After(change.Add(-61*time.Minute)) && at.Before(change.Add(2*time.Hour))
		}
		started, _ := runCron(t, zone, map[string]string{"all": all}, periods)
		for i, expression := range list {
			timer, err := timerOfLine(expression, zone)
			if !counts.refusal(t, expression, err, nil) {
				continue
			}
			ours, theirs := elapses(t, timer, periods), within(started[id(i)], periods)
			onlyOurs, onlyTheirs := difference(ours, theirs)
			for _, at := range append(onlyOurs, onlyTheirs...) {
				if !near(at) {
					t.Errorf("%q differs at %v, far from the change", expression, at)
				}
			}
			// Of 01:00, 02:00 and 03:00, nextrun makes two elapses when the clock is set forward.
			if fixed := !strings.ContainsAny(strings.TrimSuffix(expression, " * * *"), "*-"); fixed && len(ours) != len(theirs) {
				t.Errorf("%q: nextrun elapses %d times, cron %d", expression, len(ours), len(theirs))
			}
			counts.elapses += len(theirs)
			counts.excepted[describe(change, onlyOurs, onlyTheirs)]++
		}
	}
	counts.log(t)
}

func describe(change time.Time, onlyOurs, onlyTheirs []time.Time) string {
	kind := "forward"
	if change.Month() > time.June {
		kind = "back"
	}
	switch {
	case len(onlyOurs)+len(onlyTheirs) == 0:
		return "clock set " + kind + ": alike"
	case len(onlyOurs) == 0:
		return "clock set " + kind + ": cron elapses more often"
	case len(onlyTheirs) == 0:
		return "clock set " + kind + ": nextrun elapses more often"
	}
	return "clock set " + kind + ": at other minutes"
}
