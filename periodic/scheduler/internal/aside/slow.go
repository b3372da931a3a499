package aside

import (
	"maps"
	"slices"
	"time"
)

// Slow are the tasks of batches that took much longer than usual. They are taken beside the
// others, in ever smaller parts, until those that are slow are alone. They stay alone until they
// are slow no more.
type Slow struct {
	parts []*SlowPart
	tried int // how many parts were taken in this search, ...
	slow  int // ... and how many of them were slow
}

// SlowPart is a number of tasks that are taken together.
type SlowPart struct {
	Keys  []string
	at    time.Time // by the host's clock: when the first falls due
	taken bool      // it is being taken
	named bool      // it is a task that was slow alone
}

const (
	// slowParts is into how many parts the tasks of a slow batch are split.
	slowParts = 4
	// mostSlow bounds the tasks that are searched.
	mostSlow = 1000
	// slowAgain: tasks that are not due again sooner than this are not searched.
	slowAgain = 24 * time.Hour
	// slowRetry is when to try a task again that could not be taken.
	slowRetry = time.Second
	// allSlow is after how many parts it counts that nearly all were slow: then no task is to blame.
	allSlow = 16
)

// Suspect leaves out the tasks of a batch that was slow. when says by key when they fall due
// next, by the host's clock. The result is the task that is to blame, if it was alone.
func (t *Tasks) Suspect(when map[string]time.Time, now time.Time) (culprit string) {
	maps.DeleteFunc(when, func(_ string, at time.Time) bool { return at.Sub(now) > slowAgain })
	keys := slices.SortedFunc(maps.Keys(when), func(a, b string) int { return when[a].Compare(when[b]) })
	if len(keys) == 0 || len(keys)+len(t.slowKeys()) > mostSlow {
		return ""
	}
	for part := range slices.Chunk(keys, (len(keys)+slowParts-1)/slowParts) {
		t.slow.parts = append(t.slow.parts, &SlowPart{Keys: part, at: when[part[0]], named: len(keys) == 1})
	}
	for _, key := range keys {
		t.facts[key] = facts{verdict: Slowed}
	}
	if len(keys) == 1 {
		return keys[0]
	}
	return ""
}

// Took says that a part of slow tasks was taken, and whether that was slow again. when is as in
// Suspect, of those that were due. It returns the task that is to blame, if that is new, and one
// that was to blame and is not any more.
func (t *Tasks) Took(p *SlowPart, when map[string]time.Time, slow bool, now time.Time) (culprit, over string) {
	if p.named && len(when) == 0 { // another scheduler has it
		p.taken, p.at = false, now.Add(slowRetry)
		return "", ""
	}
	keys := p.Keys
	for _, key := range keys {
		if t.facts[key].verdict == Slowed { // else it was set aside for something else
			t.Release(key)
		}
	}
	if !p.named {
		if t.slow.tried++; slow {
			t.slow.slow++
		}
	}
	if slow && len(when) > 0 && (p.named || !t.noneToBlame()) {
		culprit = t.Suspect(when, now)
	}
	if !slices.ContainsFunc(t.slow.parts, searched) {
		t.slow.tried, t.slow.slow = 0, 0
	}
	if p.named && len(keys) > 0 && culprit == "" {
		return "", keys[0]
	} else if p.named {
		return "", ""
	}
	return culprit, ""
}

func searched(p *SlowPart) bool { return !p.named }

// noneToBlame ends a search in which nearly all parts were slow.
func (t *Tasks) noneToBlame() bool {
	if t.slow.tried < allSlow || 4*t.slow.slow <= 3*t.slow.tried {
		return false
	}
	for _, p := range slices.Clone(t.slow.parts) {
		if searched(p) {
			for _, key := range p.Keys {
				t.Release(key)
			}
		}
	}
	return true
}

// SlowDue returns a part that is due, and that nobody takes yet; nil: there is none.
func (t *Tasks) SlowDue(now time.Time) *SlowPart {
	for _, p := range t.slow.parts {
		if !p.taken && !p.at.After(now) {
			p.taken = true
			return p
		}
	}
	return nil
}

// SlowNext is when the next part is due that nobody takes yet; zero: there is none.
func (t *Tasks) SlowNext() (next time.Time) {
	for _, p := range t.slow.parts {
		if !p.taken && (next.IsZero() || p.at.Before(next)) {
			next = p.at
		}
	}
	return next
}

func (t *Tasks) slowKeys() (keys []string) {
	for _, p := range t.slow.parts {
		keys = append(keys, p.Keys...)
	}
	return keys
}

// releaseSlow takes a task out of its part.
func (t *Tasks) releaseSlow(key string) {
	for _, p := range t.slow.parts {
		p.Keys = slices.DeleteFunc(slices.Clone(p.Keys), func(k string) bool { return k == key })
	}
	t.slow.parts = slices.DeleteFunc(t.slow.parts, func(p *SlowPart) bool { return len(p.Keys) == 0 })
}
