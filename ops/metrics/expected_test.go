package metrics

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
)

// One rule, last success < expected success, must fit every timer: by when a success
// is expected.
func TestExpectedSuccess(t *testing.T) {
	at := func(text string) time.Time {
		v, err := time.Parse("2006-01-02 15:04:05", text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	submitted := func(due, state, finished string) view.Run {
		o := view.Run{Due: at(due), Decided: at(due), Decision: periodic.Submitted, State: state}
		if finished != "" {
			o.Finished = at(finished)
		}
		return o
	}
	decided := func(due string, d periodic.Decision, reason string) view.Run {
		return view.Run{Due: at(due), Decided: at(due), Decision: d, Reason: reason}
	}
	const now = "2026-03-10 12:00:00"
	for name, test := range map[string]struct {
		timer, due string
		change     func(*periodic.Task)
		ticks      []view.Run // the newest first
		want       string     // empty: none is expected
	}{
		"minutely and well: the tick of two minutes ago must be done": {
			timer: "minutely", due: "2026-03-10 12:01:00", want: "2026-03-10 11:59:00",
			ticks: []view.Run{submitted("2026-03-10 12:00:00", "running", ""), submitted("2026-03-10 11:59:00", "success", "2026-03-10 11:59:00")},
		},
		"minutely, no scheduler since 09:00": {
			timer: "minutely", due: "2026-03-10 09:00:00", want: "2026-03-10 11:59:00",
			ticks: []view.Run{submitted("2026-03-10 08:59:00", "success", "2026-03-10 08:59:00")},
		},
		"weekly, no scheduler on Monday": {
			timer: "Mon 00:00", due: "2026-03-09 00:00:00", want: "2026-03-09 00:00:00",
		},
		"yearly, and the only job fails": {
			timer: "yearly", due: "2027-01-01 00:00:00", want: "2026-01-01 00:00:00",
			ticks: []view.Run{submitted("2026-01-01 00:00:00", "failed", "2026-01-01 00:10:00")},
		},
		"yearly, and the job was deleted since": {
			timer: "yearly", due: "2027-01-01 00:00:00", want: "",
			ticks: []view.Run{submitted("2026-01-01 00:00:00", "", "")},
		},
		"a job that usually takes an hour has time": {
			timer: "*-*-* 11,8,5:00:00", due: "2026-03-11 05:00:00", want: "2026-03-10 08:00:00",
			ticks: []view.Run{
				submitted("2026-03-10 11:00:00", "running", ""),
				submitted("2026-03-10 08:00:00", "success", "2026-03-10 09:00:00"),
				submitted("2026-03-10 05:00:00", "success", "2026-03-10 06:00:00"),
			},
		},
		"a skipped tick counts: its predecessor should have been done": {
			timer: "hourly", due: "2026-03-10 13:00:00", want: "2026-03-10 11:00:00",
			ticks: []view.Run{decided("2026-03-10 11:00:00", periodic.Skipped, "the job of 10:00:00 still runs")},
		},
		"a tick of a pause does not": {
			timer: "hourly", due: "2026-03-10 13:00:00", want: "2026-03-10 09:00:00",
			ticks: []view.Run{
				{Due: at("2026-03-10 11:00:00"), Decided: at("2026-03-10 11:00:00"), Decision: periodic.Skipped, Cause: periodic.CausePaused},
				submitted("2026-03-10 09:00:00", "success", "2026-03-10 09:00:00"),
			},
		},
		"jitter is waited for": {
			timer: "hourly", due: "2026-03-10 13:00:00", want: "2026-03-10 10:00:00",
			change: func(t *periodic.Task) { t.Jitter = time.Hour },
			ticks: []view.Run{
				submitted("2026-03-10 11:00:00", "running", ""), submitted("2026-03-10 10:00:00", "failed", "2026-03-10 10:00:01")},
		},
		"new, and not due yet":   {timer: "hourly", due: "2026-03-10 13:00:00", want: ""},
		"new, and not planned":   {timer: "hourly", due: "", want: ""},
		"after its end":          {timer: "minutely", due: "2026-03-10 09:00:00", change: func(t *periodic.Task) { t.Ends = at("2026-03-10 10:00:00") }, want: "2026-03-10 09:59:00"},
		"paused":                 {timer: "minutely", due: "2026-03-10 09:00:00", change: func(t *periodic.Task) { t.Pause.Since = at("2026-03-10 08:00:00") }, want: ""},
		"disabled":               {timer: "minutely", due: "2026-03-10 09:00:00", change: func(t *periodic.Task) { t.Enabled = false }, want: ""},
		"an event: no job of it": {timer: "hourly", due: "2026-03-10 13:00:00", change: func(t *periodic.Task) { t.Sink = periodic.SinkEvent }, ticks: []view.Run{submitted("2026-03-10 11:00:00", "", "")}, want: "2026-03-10 11:00:00"},
	} {
		t.Run(name, func(t *testing.T) {
			task := periodic.NewTask("a", "x", test.timer)
			task.Sink = periodic.SinkJob
			task.Created = at("2020-01-01 00:00:00")
			if test.due != "" {
				task.Due = at(test.due)
			}
			if test.change != nil {
				test.change(&task)
			}
			got := ""
			if e := expected(&task, test.ticks, at(now), time.Minute); !e.IsZero() {
				got = e.Format("2006-01-02 15:04:05")
			}
			if got != test.want {
				t.Errorf("a success is expected for the tick of %q, want %q", got, test.want)
			}
		})
	}
}
