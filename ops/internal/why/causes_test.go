package why

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/page"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
)

// The reference lists the causes.
func TestReferenceOfCauses(t *testing.T) {
	t.Parallel()
	list := ""
	for _, c := range causes {
		list += page.Item(string(c.code), c.means)
	}
	page.Part(t, "../../../docs/reference.md", "findings", list)
}

// A next run that was set by hand is compared with the timer, and with the time at which it was set: whole hours look like the time of another zone.
func TestNextRunByHand(t *testing.T) {
	t.Parallel()
	at := func(clock string) time.Time {
		v, err := time.Parse("2006-01-02 15:04:05", "2026-11-26 "+clock)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for name, c := range map[string]struct{ timer, next, want string }{
		"now() of Berlin":        {"*:0/5", "18:16:21", "Its next run was set by hand to 2026-11-26 18:16:21 UTC; its timer elapses at 2026-11-26 17:20:00 UTC. That is 1 hour after the time at which it was set: times in the database are UTC, so check whether it was written in another zone."},
		"an hour after the tick": {"*-*-* 18:00", "19:00:00", "That is 1 hour after a time of its timer"},
		"on purpose":             {"*-*-* 18:00", "17:45:10", "Its next run was set by hand to 2026-11-26 17:45:10 UTC; its timer elapses at 2026-11-26 18:00:00 UTC."},
		"a time of its timer":    {"*-*-* 18:00", "18:00:00", ""},
	} {
		task := periodic.NewTask("t", "x", c.timer)
		task.NextRun = at(c.next)
		f := &Explanation{Task: view.Task{Task: &task, Now: at("17:16:25"), Edited: at("17:16:21")}}
		said := ""
		for _, one := range f.Findings(time.UTC) {
			if one.Code == "next_by_hand" {
				said = one.Text
			}
		}
		if !strings.Contains(said, c.want) || (said == "") != (c.want == "") || strings.Contains(said, "hour") != strings.Contains(c.want, "hour") {
			t.Errorf("%s: it says %q, want %q", name, said, c.want)
		}
	}
}

// A program that declares a task may have its handler, which has to run then. A handler with a similar name may be another
// program's: no command sets it.
func TestWhoDeclaresATaskRunsIt(t *testing.T) {
	t.Parallel()
	a := Args{"Handler": "report", "Task": "report", "Near": "reports", "Program": "shop"}
	for _, code := range []view.Code{"job_no_executor", "job_no_handler"} {
		if f := word(code, a, time.Now(), time.UTC); !strings.HasPrefix(f.Do, `if "shop", which declares the task, is a program: start it; else `) || strings.Contains(f.Do, "reports") {
			t.Errorf("%s: %s: %s", code, f.Text, f.Do)
		}
	}
}

// A command that people copy has the names of rows as words, whatever a shell would make of them.
func TestCommandsQuoteNames(t *testing.T) {
	t.Parallel()
	a := Args{"ID": "a; reboot", "Kind": "group", "Name": "$(reboot)", "Topic": "ok", "Event": "`reboot`", "Dead": true}
	for code, want := range map[view.Code]string{
		"task_paused": "to end the pause: nextrun task resume 'a; reboot'", "job_limit": "to end the pause: nextrun job limit group '$(reboot)' none",
		"event_undelivered": "nextrun event resend '`reboot`'",
	} {
		if f := word(code, a, time.Now(), time.UTC); f.Do != want {
			t.Errorf("%s: %s", code, f.Do)
		}
	}
}

// Jobs that are always replaced, and ticks that are always skipped, are told; so is the nearest handler.
func TestWhatNeverEnds(t *testing.T) {
	t.Parallel()
	task := periodic.NewTask("t", "qiuck", "minutely")
	task.NextRun, task.Overlap = time.Now().Add(time.Minute), periodic.OverlapReplace
	run := func(d periodic.Decision, state string, cause periodic.Cause) view.Run {
		return view.Run{Decision: d, State: state, Cause: cause}
	}
	has := func(code view.Code, runs ...view.Run) bool {
		f := &Explanation{Task: view.Task{Task: &task, Now: time.Now(), Runs: runs}}
		for _, one := range f.Findings(time.UTC) {
			if one.Code == code {
				return true
			}
		}
		return false
	}
	cancelled, runs, well := run(periodic.Submitted, "cancelled", ""), run(periodic.Submitted, "running", ""), run(periodic.Submitted, "success", "")
	if !has("task_overlaps", runs, cancelled, cancelled, cancelled) || has("task_overlaps", runs, cancelled, cancelled, cancelled, well) || has("task_overlaps", runs, cancelled, cancelled) {
		t.Error("jobs that are always replaced are not told, or others are")
	}
	skipped, left := run(periodic.Skipped, "", periodic.CauseOverlap), run(periodic.Skipped, "", periodic.CausePaused)
	if !has("task_overlaps", skipped, well, skipped, skipped, skipped) || has("task_overlaps", left, left, left, left, skipped) {
		t.Error("ticks that are always skipped are not told, or others are")
	}
}
