// Package timer has timers whose ticks follow from plain arithmetic, so that the chaos checks nextrun's calendar instead of trusting it.
package timer

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Timer is an arithmetic progression: all times, in seconds since 1970, whose rest after division by Every is Phase. All
// timers of the chaos are such, so that the ticks are computed without nextrun's calendar.
type Timer struct{ Every, Phase int64 }

// Text writes a timer in one of the notations of nextrun.
func (t Timer) Text(r *rand.Rand) string {
	switch {
	case t.Every == 1 && t.Phase == 0:
		return "*:*:*"
	case t.Every == 60 && t.Phase == 0 && r.IntN(2) == 0:
		return "* * * * *"
	case t.Every == 60 && r.IntN(2) == 0:
		return fmt.Sprintf("*:*:%d", t.Phase)
	case t.Every < 60 && 60%t.Every == 0 && r.IntN(2) == 0:
		return fmt.Sprintf("*:*:%d/%d", t.Phase, t.Every)
	}
	return fmt.Sprintf("every %ds from %s", t.Every, time.Unix(t.Phase, 0).UTC().Format(time.RFC3339))
}

// Parse reads what Text writes.
func Parse(text string) (Timer, error) {
	bad := fmt.Errorf("no timer of the chaos: %q", text)
	if text == "*:*:*" {
		return Timer{1, 0}, nil
	}
	if text == "* * * * *" {
		return Timer{60, 0}, nil
	}
	if rest, ok := strings.CutPrefix(text, "*:*:"); ok {
		first, every, stepped := strings.Cut(rest, "/")
		phase, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return Timer{}, bad
		}
		if !stepped {
			return Timer{60, phase}, nil
		}
		n, err := strconv.ParseInt(every, 10, 64)
		if err != nil || n < 1 || 60%n != 0 || phase >= n {
			return Timer{}, bad
		}
		return Timer{n, phase}, nil
	}
	every, from, ok := strings.Cut(strings.TrimPrefix(text, "every "), "s from ")
	if !ok {
		return Timer{}, bad
	}
	n, err := strconv.ParseInt(every, 10, 64)
	if err != nil || n < 1 {
		return Timer{}, bad
	}
	begin, err := time.Parse(time.RFC3339, from)
	if err != nil {
		return Timer{}, bad
	}
	return Timer{n, begin.Unix() % n}, nil
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

// Between is how many ticks there are from a tick to before a time.
func (t Timer) Between(tick, past time.Time) (n int) {
	for ; tick.Before(past); tick = t.Next(tick) {
		n++
	}
	return n
}
