package docspell

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/periodic"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Each answer follows from the grammar of calev 0.7.4.
func TestReadsTimer(t *testing.T) {
	t.Parallel()
	for timer, want := range map[string]bool{
		"*-*-* 00:00:00": true, "*-*-* 0:0": true, "Mon *-*-* 06:00": true, "Mon,Wed..fri *-01,7-1..7/2 0/2:00:00": true,
		"MONDAY 2026-*-* *:*:*": true, "2026..2030/2-1-1 1:1:1 Europe/Berlin": true, "  *-*-* 02:00:00 Z ": true,
		"*-*-* 02:00:00 +02:00": true, "*-*-* 02:00:00 -2": true, "*-*-* 02:00:00 UTC": true, "*-*-* 02:00:00 Etc/GMT+5": true,
		"*-*-* 02:00:00 EST": true,
		// What nextrun takes besides.
		"daily": false, "02:00": false, "Mon 02:00": false, "2026-12-24": false, "*-*~1 02:00": false, "1-1 02:00": false,
		"26-01-01 02:00": false, "*-*-* 02:00:00.5": false, "Mon-Fri *-*-* 02:00": false, "Mon..Mon *-*-* 02:00": false,
		"Mon..Monday *-*-* 02:00": false, "Mon, *-*-* 02:00": false, "*-*-*  02:00": false, "*-*-* */2:00": false,
		"*-*-* 02:00 utc": false, "*-*-* 02:00 ROC": false, "@1798761600": false, "0 2 * * *": false, "every 36h": false,
	} {
		if got := readsTimer(timer); got != want {
			t.Errorf("%q: %t, want %t", timer, got, want)
		}
		if _, err := calendar.ParseAt(timer, now); err != nil && strings.TrimSpace(timer) == timer && timer != "*-*-* */2:00" {
			t.Errorf("%q is no timer of nextrun's: %v", timer, err)
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	good := periodic.NewTask("8Xp1-a_b.c@d", "scan-mailbox", "Mon *-*-* 06:00:00")
	good.Group, good.Submitter = "family", "dad"
	if list := Warnings(&good, now); len(list) > 0 {
		t.Errorf("warnings of a good task: %q", list)
	}
	for want, change := range map[string]func(*periodic.Task){
		`cannot read id "b/ü"`:                                  func(t *periodic.Task) { t.ID = "b/ü" },
		`cannot read group_ "my family"`:                        func(t *periodic.Task) { t.Group = "my family" },
		`cannot read submitter "a:b"`:                           func(t *periodic.Task) { t.Submitter = "a:b" },
		`cannot read task "backup!"`:                            func(t *periodic.Task) { t.Task, t.Sink = "backup!", periodic.SinkEvent },
		`the timer "daily Europe/Berlin"`:                       func(t *periodic.Task) { t.Timer = "daily Europe/Berlin" },
		`write it as "*-*-* 00:00:00 Europe/Berlin"`:            func(t *periodic.Task) { t.Timer = "daily Europe/Berlin" },
		`use a calendar event with date and time, such as`:      func(t *periodic.Task) { t.Timer = "every 36h" },
		`Docspell 0.43 has no task "backup": a joex that takes`: func(t *periodic.Task) { t.Task = "backup" },
		`overlap allow can give the task two jobs`:              func(t *periodic.Task) { t.Overlap = periodic.OverlapAllow },
	} {
		task := good
		change(&task)
		list := Warnings(&task, now)
		if len(list) != 1 || !strings.Contains(list[0], want) {
			t.Errorf("the warnings are %q, want one with %s", list, want)
		}
	}
}
