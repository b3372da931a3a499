package days

import (
	"cmp"
	"slices"
	"time"
)

// Override is what somebody has decided about one tick of a task: a row of the table periodic_override.
type Override struct {
	Due     time.Time `json:"due"`               // the tick, after calendars have left it in place or moved it
	To      time.Time `json:"moved_to,omitzero"` // when it takes place instead; zero: not at all
	Reason  string    `json:"reason,omitempty"`  // why, for people
	Who     string    `json:"who,omitempty"`     // for people
	Created time.Time `json:"created"`           // by the database's clock
}

// Line are ticks in the order of their times. [Ticks] and [Overridden] are lines.
type Line interface {
	// Next is the earliest tick strictly after a time, the zero Tick if there is none.
	Next(after time.Time) Tick
	// Prev is the latest tick strictly before a time, the zero Tick if there is none.
	Prev(before time.Time) Tick
	// Anew is Next for a plan that is made anew: it accounts for ticks whose new time has passed.
	Anew(after time.Time) Tick
	// At is the tick at a time, which the line need not have any more.
	At(due time.Time) Tick
}

// Effect is what an override comes to.
type Effect struct {
	Override
	Text string `json:"effect"` // in words, for people: "left out by ann: server moves"
}

// Overridden are the ticks of a line after what people have decided about single ones. They are safe for
// concurrent use.
type Overridden struct {
	Line
	Effects []Effect       // in the order of Due
	at      map[int64]Tick // what takes the place of the line's tick at a time, by its microsecond; the zero Tick: nothing
	moves   []move         // in the order in which the ticks take place
}

// move is a tick that has moved.
type move struct {
	tick Tick // where it takes place
	left Tick // where it was: so it is recorded if a scheduler planned it there
}

// NewOverridden returns the ticks of a line under overrides. One of a tick that does not take place has no effect.
func NewOverridden(line Line, rows []Override) *Overridden {
	o := &Overridden{Line: line, at: map[int64]Tick{}}
	meant := map[int64]Tick{}
	for _, r := range rows {
		effect := Effect{Override: r}
		switch tick := o.onLine(r.Due); {
		case tick.Due.IsZero():
			effect.Text = "no effect: no tick at that time"
		case tick.Excluded:
			effect.Text = "no effect: " + tick.Why
		default:
			meant[r.Due.UnixMicro()] = tick
		}
		o.Effects = append(o.Effects, effect)
	}
	slices.SortFunc(o.Effects, func(a, b Effect) int { return a.Due.Compare(b.Due) })
	for i := range o.Effects {
		if tick, ok := meant[o.Effects[i].Due.UnixMicro()]; ok {
			o.take(&o.Effects[i], tick, meant)
		}
	}
	slices.SortFunc(o.moves, func(a, b move) int { return a.tick.Due.Compare(b.tick.Due) })
	for _, m := range o.moves { // whatever else may be there
		o.at[m.tick.Due.UnixMicro()] = m.tick
	}
	return o
}

// take lets an override take effect on its tick.
func (o *Overridden) take(e *Effect, tick Tick, meant map[int64]Tick) {
	key, left := e.Due.UnixMicro(), Tick{Due: tick.Due, Excluded: true, Why: e.text("left out", "")}
	switch {
	case e.To.IsZero():
	case !e.To.After(e.Created):
		left.Why += movedFor(e.To, "; it was to move to a time that had passed, ")
	case o.meets(e.To, meant):
		left.Why += movedFor(e.To, "; it counts once with the tick of ")
	default:
		left.Why += movedFor(e.To, "; moved to ")
		to := Tick{Due: e.To, Nominal: tick.Nominal, Why: e.text("moved", movedFor(tick.Due, " from "))}
		if to.Nominal.IsZero() {
			to.Nominal = tick.Due
		}
		o.moves = append(o.moves, move{to, left})
		o.at[key], e.Text = Tick{}, e.text("moved", movedFor(e.To, " to "))
		return
	}
	o.at[key], e.Text = left, left.Why
}

// meets reports whether another tick takes place at a time to which one is to move.
func (o *Overridden) meets(to time.Time, meant map[int64]Tick) bool {
	if slices.ContainsFunc(o.moves, func(m move) bool { return m.tick.Due.Equal(to) }) {
		return true
	}
	_, changed := meant[to.UnixMicro()]
	tick := o.onLine(to)
	return !changed && !tick.Due.IsZero() && !tick.Excluded
}

// onLine is the line's own tick at a time, the zero Tick if there is none.
func (o *Overridden) onLine(at time.Time) Tick {
	if tick := o.Line.Next(at.Add(-time.Microsecond)); tick.Due.Equal(at) {
		return tick
	}
	return Tick{}
}

// text says what somebody has done: "left out by ann: server moves".
func (r Override) text(done, more string) string {
	text := done + " by " + cmp.Or(r.Who, "hand") + more
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// Next implements [Line].
func (o *Overridden) Next(after time.Time) Tick {
	i, _ := slices.BinarySearchFunc(o.moves, after, func(m move, at time.Time) int { return cmp.Or(m.tick.Due.Compare(at), -1) })
	tick := o.walk(o.Line.Next(after), o.Line.Next)
	if i < len(o.moves) && (tick.Due.IsZero() || o.moves[i].tick.Due.Before(tick.Due)) {
		return o.moves[i].tick
	}
	return tick
}

// Prev implements [Line].
func (o *Overridden) Prev(before time.Time) Tick {
	i, _ := slices.BinarySearchFunc(o.moves, before, func(m move, at time.Time) int { return m.tick.Due.Compare(at) })
	tick := o.walk(o.Line.Prev(before), o.Line.Prev)
	if i > 0 && o.moves[i-1].tick.Due.After(tick.Due) {
		return o.moves[i-1].tick
	}
	return tick
}

// walk goes on from a tick of the line to one that has not moved away.
func (o *Overridden) walk(tick Tick, on func(time.Time) Tick) Tick {
	for !tick.Due.IsZero() {
		change, ok := o.at[tick.Due.UnixMicro()]
		if !ok {
			break
		}
		if !change.Due.IsZero() {
			return change
		}
		tick = on(tick.Due)
	}
	return tick
}

// Anew implements [Line]. A tick that would have moved to a time that has passed is left out at its own
// time, with a record.
func (o *Overridden) Anew(after time.Time) Tick {
	tick := o.Next(after)
	if own := o.Line.Anew(after); own.Excluded && (tick.Due.IsZero() || own.Due.Before(tick.Due)) {
		tick = own
	}
	for _, m := range o.moves {
		if m.left.Due.After(after) && !m.tick.Due.After(after) && (tick.Due.IsZero() || m.left.Due.Before(tick.Due)) {
			tick = m.left
		}
	}
	return tick
}

// At implements [Line].
func (o *Overridden) At(due time.Time) Tick {
	if tick := o.Next(due.Add(-time.Microsecond)); tick.Due.Equal(due) {
		return tick
	}
	if i := slices.IndexFunc(o.moves, func(m move) bool { return m.left.Due.Equal(due) }); i >= 0 {
		return o.moves[i].left
	}
	return o.Line.At(due)
}
