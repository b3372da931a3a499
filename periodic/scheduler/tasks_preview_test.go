package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	v, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPreview(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-03-28 12:00:30")
	clock := func(text string) time.Time { return at(t, "2026-03-28 "+text) }
	task := func(id, timer string, change func(*periodic.Task)) periodic.Task {
		task := periodic.NewTask(id, "echo", timer)
		task.Created = at(t, "2026-03-28 12:00:00")
		task.NextRun = periodic.Unplanned
		if change != nil {
			change(&task)
		}
		return task
	}
	planned := func(due string) func(*periodic.Task) {
		return func(t *periodic.Task) { t.Due, t.NextRun = clock(due), clock(due) }
	}
	paused := func(until time.Time) func(*periodic.Task) {
		return func(t *periodic.Task) { t.Pause = periodic.Pause{Since: clock("11:00:00"), Until: until} }
	}
	tests := []struct {
		name string
		task periodic.Task
		want string // times of the next ten minutes
	}{
		{"not planned yet", task("a", "*:0/5", nil), "12:05:00 12:10:00"},
		{"planned", task("a", "*:0/5", planned("12:05:00")), "12:05:00 12:10:00"},
		{"planned with the jitter of before", task("a", "*:0/5", func(t *periodic.Task) {
			t.Due, t.NextRun = clock("12:05:00"), clock("12:05:07")
		}), "12:05:07 12:10:00"},
		{"due", task("a", "*:0/5", planned("12:00:00")), "12:00:00 12:05:00 12:10:00"},
		{"long due", task("a", "*:0/5", planned("11:00:00")), "12:00:00 12:05:00 12:10:00"},
		{"long due, all", task("a", "*:0/5", func(t *periodic.Task) {
			planned("11:50:00")(t)
			t.Catchup = periodic.CatchupAll
		}), "11:50:00 11:55:00 12:00:00 12:05:00 12:10:00"},
		{"set by hand", task("a", "*:0/5", func(t *periodic.Task) { t.NextRun = clock("12:03:00") }), "12:03:00 12:05:00 12:10:00"},
		{"disabled", task("a", "*:0/5", func(t *periodic.Task) { t.Enabled = false }), ""},
		{"paused for a while", task("a", "*:0/5", paused(clock("12:07:00"))), "12:10:00"},
		{"paused", task("a", "*:0/5", paused(time.Time{})), ""},
		{"paused, to be run by hand", task("a", "*:0/5", func(t *periodic.Task) {
			paused(time.Time{})(t)
			t.NextRun = clock("12:03:00")
		}), "12:03:00"},
		{"bad timer", task("a", "nonsense", nil), ""},
		{"never again", task("a", "*:0/5", func(t *periodic.Task) { t.Due, t.NextRun = periodic.Never, periodic.Never }), ""},
		{"bounds", task("a", "*:0/2", func(t *periodic.Task) { t.Starts, t.Ends = clock("12:04:00"), clock("12:08:00") }), "12:04:00 12:06:00"},
		{"interval from creation", task("a", "every 4m", nil), "12:04:00 12:08:00"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for tick := range periodic.Preview([]periodic.Task{test.task}, now, now.Add(10*time.Minute)) {
				got = append(got, tick.NextRun.Format(time.TimeOnly))
			}
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("got  %s\nwant %s", text, test.want)
			}
		})
	}
}
