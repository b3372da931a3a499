package audit

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// Timer is an arithmetic progression: all times, in seconds since 1970, whose rest after division by Every is Phase. All
// timers of the chaos are such, so that the ticks are computed without nextrun's calendar.
type Timer struct{ Every, Phase int64 }

// Text writes a timer in one of two notations of nextrun.
func (t Timer) Text(r *rand.Rand) string {
	if t.Every < 60 && 60%t.Every == 0 && r.IntN(2) == 0 {
		return fmt.Sprintf("*:*:%d/%d", t.Phase, t.Every)
	}
	return fmt.Sprintf("every %ds from %s", t.Every, time.Unix(t.Phase, 0).UTC().Format(time.RFC3339))
}

// ParseTimer reads what Text writes.
func ParseTimer(text string) (t Timer) {
	if _, err := fmt.Sscanf(text, "*:*:%d/%d", &t.Phase, &t.Every); err == nil {
		return t
	}
	var from string
	must.Get(fmt.Sscanf(text, "every %ds from %s", &t.Every, &from))
	t.Phase = must.Get(time.Parse(time.RFC3339, from)).Unix() % t.Every
	return t
}

// Has reports whether the timer elapses at a time.
func (t Timer) Has(at time.Time) bool {
	return at.Nanosecond() == 0 && (at.Unix()-t.Phase)%t.Every == 0
}

// From is the first tick at or after a time.
func (t Timer) From(at time.Time) time.Time {
	s := at.Unix()
	if at.Nanosecond() > 0 {
		s++
	}
	if rest := ((s-t.Phase)%t.Every + t.Every) % t.Every; rest > 0 {
		s += t.Every - rest
	}
	return time.Unix(s, 0).UTC()
}

// Count is how many ticks there are from first to last, which are ticks.
func (t Timer) Count(first, last time.Time) int {
	return int((last.Unix()-first.Unix())/t.Every) + 1
}

// Next is the tick after a tick.
func (t Timer) Next(tick time.Time) time.Time { return tick.Add(time.Duration(t.Every) * time.Second) }
