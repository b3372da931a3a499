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

// isInterval reports whether a timer may be an interval, which begins with "every", or have one among several.
func isInterval(timer string) bool {
	text := strings.TrimSpace(timer)
	return len(text) >= 5 && strings.EqualFold(text[:5], "every") || strings.Contains(text, ";")
}
