package periodic

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/bits"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/bounds"
	"github.com/nextrun/nextrun/internal/finish"
	"github.com/nextrun/nextrun/internal/reasons"
	"github.com/nextrun/nextrun/periodic/days"
)

// timeline are the ticks of a task: those of its timer between Starts and Ends, as its calendars and people leave
// them out or move them.
type timeline struct {
	bounded
	task   *Task
	days   days.Line // nil: there are neither calendars nor overrides
	finish finish.By
	odd    string // what is wrong with a calendar or finish_by; empty: nothing
}

// timeline returns the ticks of a task with a timer. An error is a problem of the row.
func (t *Task) timeline(timer calendar.Schedule) (timeline, error) {
	within := func(s calendar.Schedule) bounded { return bounded{Schedule: s, starts: t.Starts, ends: t.Ends} }
	line := timeline{bounded: within(timer), task: t}
	line.finish, line.odd = t.finish(timer)
	if t.Days.Empty() && t.Days.Calendars.Windows(t.Group) == nil {
		return line, nil
	}
	rules := t.Days.Rules
	if rules.Empty() {
		rules = days.Rules{} // no tick moves
	}
	ticks, err := days.New(timer, func(s calendar.Schedule) days.Timer { return within(s) }, rules, t.Days.Calendars, t.Group)
	if err != nil {
		return line, err
	}
	line.days, line.odd = ticks, cmp.Or(ticks.Warning, line.odd)
	if len(t.Days.Overrides) > 0 {
		line.days = days.NewOverridden(ticks, t.Days.Overrides)
	}
	return line, nil
}

// finish reads FinishBy, with what is wrong with it.
func (t *Task) finish(timer calendar.Schedule) (by finish.By, problem string) {
	if t.Pace.FinishBy == "" {
		return by, ""
	}
	if t.Sink == SinkEvent {
		return by, "finish_by has no effect: events do not tell how their handling ends; use none"
	}
	by, err := finish.Parse(t.Pace.FinishBy, calendar.Location(timer))
	if err != nil {
		problem = err.Error()
	}
	return by, problem
}

// finishOf is when the job of a tick has to have succeeded that no scheduler decides; zero: at any time, as with
// one that is made up for by hand.
func (t *Task) finishOf(tick Tick) time.Time {
	timer, err := calendar.ParseAt(t.Timer, t.Anchor())
	if err != nil || tick.Reason == reasons.Backfilled {
		return time.Time{}
	}
	by, _ := t.finish(timer)
	return by.Of(tick.Due)
}

// Next is the earliest tick strictly after a time, zero if there is none.
func (l timeline) Next(after time.Time) time.Time {
	if l.days == nil {
		return l.bounded.Next(after)
	}
	return l.days.Next(after).Due
}

// Prev is the latest tick strictly before a time, zero if there is none.
func (l timeline) Prev(before time.Time) time.Time {
	if l.days == nil {
		return l.bounded.Prev(before)
	}
	return l.days.Prev(before).Due
}

// Anew is Next for a plan that is made anew.
func (l timeline) Anew(after time.Time) time.Time {
	if l.days == nil {
		return l.bounded.Next(after)
	}
	return l.days.Anew(after).Due
}

// At is the tick at a time.
func (l timeline) At(due time.Time) days.Tick {
	if l.days == nil {
		return days.Tick{Due: due}
	}
	return l.days.At(due)
}

// FinishBy is when the job of a tick has to have succeeded; zero: at any time.
func (l timeline) FinishBy(due time.Time) time.Time { return l.finish.Of(due) }

// bounded is a schedule between a task's Starts and Ends.
type bounded struct {
	calendar.Schedule
	starts, ends time.Time // zero: no bound
}

// Exclusion says why calendars or people leave out a tick; empty: they do not.
func (l timeline) Exclusion(due time.Time) string {
	if tick := l.At(due); tick.Excluded {
		return tick.Why
	}
	return ""
}

// Next is the earliest tick strictly after a time, zero if there is none.
func (b bounded) Next(after time.Time) time.Time {
	if !b.starts.IsZero() && after.Before(b.starts) {
		after = b.starts.Add(-time.Microsecond)
	}
	return b.within(b.Schedule.Next(after))
}

// Prev is the latest tick strictly before a time, zero if there is none.
func (b bounded) Prev(before time.Time) time.Time {
	if !b.ends.IsZero() && before.After(b.ends) {
		before = b.ends
	}
	return b.within(b.Schedule.Prev(before))
}

// Warning is about calendars that cannot be read, and about a timer that never elapses, in all of
// time. One that has elapsed for the last time has done what it was to do.
func (l timeline) Warning(planned bool) string {
	switch b := l.bounded; {
	case l.odd != "":
		return reasons.Warning(l.odd)
	case planned:
	case b.Schedule.Next(Unplanned).IsZero():
		return reasons.Warning(fmt.Sprintf("timer %q never elapses", l.task.Timer))
	case b.Next(Unplanned).IsZero():
		return reasons.Warning(fmt.Sprintf("timer %q never elapses between starts and ends", l.task.Timer))
	}
	return ""
}

// Within implements [days.Timer].
func (b bounded) Within(at time.Time) bool { return !b.within(at).IsZero() }

func (b bounded) within(tick time.Time) time.Time {
	if tick.IsZero() || tick.Before(b.starts) || !b.ends.IsZero() && !tick.Before(b.ends) || !tick.Before(Never) {
		return time.Time{}
	}
	return tick.UTC()
}

// jitter is the delay of a task's tick: the same whenever and wherever it is
// computed, spread evenly over ticks and tasks, at most greatest and never up
// to the following tick.
func jitter(id string, due, following time.Time, greatest time.Duration) time.Duration {
	if greatest <= 0 {
		return 0
	}
	width := greatest + time.Microsecond // the delay may be greatest itself
	if gap := following.Sub(due); !following.IsZero() && gap < width {
		width = gap
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(id)) // a Hash never fails
	_, _ = hash.Write([]byte(due.UTC().Format(time.RFC3339Nano)))
	share, _ := bits.Mul64(mix(hash.Sum64()), uint64(width/time.Microsecond))
	return time.Duration(share) * time.Microsecond
}

// mix spreads the entropy of a hash to its high bits: the finalizer of
// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, OOPSLA 2014).
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// Delays reports whether ticks may be submitted later than their due.
func (t *Task) Delays() bool { return t.Pace.Spread > 0 || t.Jitter > 0 }

// Offset is how much later than their due the ticks of the task are submitted because of Spread: always
// the same, and never up to the following tick.
func (l timeline) Offset(due, following time.Time) time.Duration {
	t := l.task
	if t.Pace.Spread < time.Second {
		return 0
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(t.ID)) // a Hash never fails
	share, _ := bits.Mul64(mix(hash.Sum64()), uint64(t.Pace.Spread/time.Second))
	offset := time.Duration(share) * time.Second
	if gap := following.Sub(due); gap > 0 && offset >= gap {
		offset %= gap
	}
	return offset
}

// Delay is how much later than its due a tick is submitted.
func (l timeline) Delay(due time.Time) time.Duration {
	if !l.task.Delays() {
		return 0
	}
	following := l.Next(due)
	offset := l.Offset(due, following)
	if !following.IsZero() {
		following = following.Add(-offset)
	}
	return offset + jitter(l.task.ID, due, following, l.task.Jitter)
}

// NewestDue is the latest tick not before first that is due at a time. first is one that is.
func (l timeline) NewestDue(first, now time.Time) time.Time {
	newest := l.Prev(now.Add(time.Microsecond))
	if newest.After(first) && newest.Add(l.Delay(newest)).After(now) { // its delay has not passed yet, but its predecessor's has
		newest = l.Prev(newest)
	}
	if newest.Before(first) {
		return first
	}
	return newest
}

// OldestKept is the oldest of the ticks from first to last, which are due, that is submitted, or left out by a
// calendar. Those before it are missed; the zero time: all are.
func (l timeline) OldestKept(first, last, now time.Time) time.Time {
	t, limit := l.task, 1
	if t.Catchup == CatchupAll {
		if limit = t.Pace.CatchupLimit; limit == 0 {
			return first
		}
	}
	kept, open := l.newestOpen(first, last)
	if !open {
		kept = last
	}
	if t.Catchup == CatchupNone && now.Sub(kept.Add(l.Delay(kept))) > t.Grace {
		return time.Time{}
	}
	for n := 1; n < limit; n++ {
		earlier, open := l.newestOpen(first, l.Prev(kept))
		if !open {
			break
		}
		kept = earlier
	}
	return kept
}

// newestOpen is the latest tick from first to last that calendars do not leave out.
func (l timeline) newestOpen(first, last time.Time) (open time.Time, found bool) {
	for tick, n := last, 0; n < bounds.MaxCounted && !tick.IsZero() && !tick.Before(first); n++ {
		if l.Exclusion(tick) == "" {
			return tick, true
		}
		tick = l.Prev(tick)
	}
	return open, false
}

// Paced is when the tick after one that was decided at a time is submitted, if it is due by then too.
func (l timeline) Paced(nextRun, decided time.Time) time.Time {
	if t := l.task; t.Catchup == CatchupAll && t.Pace.CatchupDelay > 0 && !nextRun.After(decided) {
		return decided.Add(t.Pace.CatchupDelay)
	}
	return nextRun
}
