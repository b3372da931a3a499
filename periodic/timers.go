package periodic

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nextrun/nextrun/calendar"
)

// maxTimers bounds the number of parsed timers that are kept.
const maxTimers = 10_000

// timers remembers parsed timers. It is safe for concurrent use.
type timers struct {
	mu    sync.Mutex
	known map[timerKey]parsedTimer
}

type timerKey struct {
	timer  string
	anchor time.Time // of intervals
}

type parsedTimer struct {
	schedule calendar.Schedule
	err      error
}

// of returns the parsed timer of a task. Only intervals depend on the anchor.
func (m *timers) of(t *Task) (calendar.Schedule, error) {
	key := timerKey{timer: t.Timer}
	if isInterval(t.Timer) {
		key.anchor = t.Anchor()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	parsed, ok := m.known[key]
	if !ok {
		parsed.schedule, parsed.err = calendar.ParseAt(t.Timer, t.Anchor())
		if m.known == nil || len(m.known) >= maxTimers {
			m.known = map[timerKey]parsedTimer{}
		}
		m.known[key] = parsed
	}
	return parsed.schedule, parsed.err
}

// outages remember until when a sink could not be used: ticks before that were not
// missed for want of a scheduler. It is safe for concurrent use.
type outages struct {
	mu   sync.Mutex
	last map[Sink]outage
}

type outage struct {
	cause error
	until time.Time // zero: it lasts
}

// failed notes why a sink cannot be used.
func (o *outages) failed(sink Sink, cause error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last == nil {
		o.last = map[Sink]outage{}
	}
	o.last[sink] = outage{cause: cause}
}

// over notes that a sink can be used again.
func (o *outages) over(sink Sink, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if last, ok := o.last[sink]; ok {
		last.until = now
		o.last[sink] = last
	}
}

// why says why a task was not scheduled at its time; empty: its sink is not to blame.
func (o *outages) why(t *Task) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if last, ok := o.last[t.Sink]; ok && !t.Unplanned() && t.NextRun.Before(last.until) {
		return fmt.Sprintf("its sink %q could not be used: %v", t.Sink, last.cause)
	}
	return ""
}

// isInterval reports whether a timer may be an interval: they begin with "every".
func isInterval(timer string) bool {
	text := strings.TrimSpace(timer)
	return len(text) >= 5 && strings.EqualFold(text[:5], "every")
}
