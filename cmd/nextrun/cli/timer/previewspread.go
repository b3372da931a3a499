package timer

import (
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// A minute with fewer ticks that a spread could move is not worth one.
const worthSpreading = 10

// trySpreads are the spreads that the preview tries, in seconds.
var trySpreads = []int{300, 900, 3600}

// spreadPeak is how many ticks a minute has at most with a spread, in its JSON form.
type spreadPeak struct {
	Spread int `json:"spread"` // seconds
	Ticks  int `json:"ticks"`
}

// spreads says what spreads would leave of a busy minute if its tasks that have neither spread nor
// jitter got one: the greatest number of ticks in a minute from then on.
func (r *previewTicks) spreads(minute time.Time, tasks []periodic.Task) (list []spreadPeak) {
	var movable []periodic.Task
	for _, t := range tasks {
		if next, err := t.Upcoming(minute.Add(-time.Microsecond), 1); err == nil && t.Enabled && !t.Delays() && len(next) > 0 && next[0].Due.Before(minute.Add(time.Minute)) {
			movable = append(movable, t)
		}
	}
	if len(movable) < worthSpreading {
		return nil
	}
	for _, seconds := range trySpreads {
		moved := map[time.Time]int{minute: -len(movable)}
		for _, t := range movable {
			t.Pace.Spread = time.Duration(seconds) * time.Second
			if next, err := t.Upcoming(minute.Add(-time.Microsecond), 1); err == nil && len(next) > 0 {
				moved[next[0].NextRun.Truncate(time.Minute)]++
			}
		}
		most := 0
		for at, n := range moved {
			most = max(most, r.minutes[at]+n)
		}
		if most < r.minutes[minute] {
			list = append(list, spreadPeak{seconds, most})
		}
	}
	return list
}

// spreadText says what spreads would leave of a busy minute: 71 with 300, 30 with 900.
func (b busyMinute) spreadText() string {
	texts := make([]string, len(b.Spreads))
	for i, s := range b.Spreads {
		texts[i] = fmt.Sprintf("%d with %d", s.Ticks, s.Spread)
	}
	return strings.Join(texts, ", ")
}
