package batch

import (
	"strings"
	"sync"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/periodic"
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
func (m *timers) of(t *periodic.Task) (calendar.Schedule, error) {
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

// behind reports whether some of a task's due ticks may have been decided before,
// and since when: a backfill may have submitted them after an outage, somebody
// may have set nextrun back, or the planned tick has vanished.
func (m *timers) behind(t *periodic.Task, now time.Time) (since time.Time, ok bool) {
	if t.Unplanned() || t.NextRun.After(now) {
		return since, false
	}
	if t.Manual() {
		return t.NextRun, true
	}
	timer, err := m.of(t)
	if err != nil {
		return since, false
	}
	if t.Vanished(timer, now) {
		return t.Due.Add(-periodic.LongestShift), true
	}
	next := timer.Next(t.Due)
	return t.Due, !next.IsZero() && !next.After(now)
}

// isInterval reports whether a timer may be an interval, which begins with "every", or have one among several.
func isInterval(timer string) bool {
	text := strings.TrimSpace(timer)
	return len(text) >= 5 && strings.EqualFold(text[:5], "every") || strings.Contains(text, ";")
}
