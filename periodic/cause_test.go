package periodic

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/days"
)

// Each tick that is not submitted at its time says why, as a code, in the order of the ticks.
func TestCauses(t *testing.T) {
	t.Parallel()
	const running = jobqueue.Running
	skip := func(k *Task) { k.Days.Skips = []days.LeftOut{{Due: noon}} }
	pause := func(k *Task) { k.Pause.Since = minute(-90) }
	limit := func(k *Task) { k.CatchupLimit = 2 }
	calendars := func(k *Task) {
		row := days.Row{Name: "c", First: noon.Truncate(24 * time.Hour), Last: noon.Truncate(24 * time.Hour)}
		k.Days.Exclude, k.Days.Calendars = "c", days.NewCalendars([]days.Row{row})
	}
	for name, c := range map[string]struct {
		situation
		want string
	}{
		"on time":               {situation{due: 0}, ""},
		"a job has not ended":   {situation{due: 0, pending: running}, "overlap"},
		"a person leaves it":    {situation{due: 0, change: skip}, "person"},
		"too late":              {situation{due: -10, deadline: time.Minute, starts: -10, ends: -1}, "deadline"},
		"an outage":             {situation{due: -60}, "newest "},
		"an outage, none":       {situation{due: -20, catchup: CatchupNone, ends: -1}, "grace"},
		"an outage, limited":    {situation{due: -60, catchup: CatchupAll, overlap: OverlapAllow, change: limit}, "limit  "},
		"it waited":             {situation{due: -10, overlap: OverlapQueue, ended: -1}, "waited "},
		"a later one":           {situation{due: -10, overlap: OverlapReplace, catchup: CatchupAll}, "superseded "},
		"paused":                {situation{due: 0, change: pause}, "paused"},
		"paused in an outage":   {situation{due: -20, change: pause}, "paused paused"},
		"a calendar":            {situation{due: 0, change: calendars}, "calendar"},
		"calendars and outages": {situation{due: -10, change: calendars}, "calendar calendar"},
		"set by hand":           {situation{due: -3, hand: true, starts: 5}, "by_hand"},
		"set by hand, and busy": {situation{due: -3, hand: true, starts: 5, pending: running}, "overlap"},
		"set to a timer's tick": {situation{due: -10, hand: true, overlap: OverlapAllow}, " "},
		"set, with one due":     {situation{due: -3, hand: true, overlap: OverlapAllow}, "by_hand "},
	} {
		p := c.decide(t)
		var got []string
		for _, k := range append(p.Settled, p.Ticks...) {
			got = append(got, string(k.Cause))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}
