package elapse

// Clock is the set of times of day at which a timer elapses: any of the hours with any of the
// minutes with any of the seconds. None of the sets is empty.
type Clock struct {
	Hours   uint32 // bit n is hour n
	Minutes uint64
	Seconds uint64 // whole seconds of the minute; unused when Parts is set
	Parts   Chain  // seconds in microseconds, when one of them has a fraction
}

// EveryHour reports whether the hours leave no gap, so that the timer goes on through an hour that
// occurs twice.
func (c *Clock) EveryHour() bool { return c.Hours == 1<<24-1 }

// Next returns the earliest time of day that is at least t.
func (c *Clock) Next(t Wall) (Wall, bool) {
	h, m := int(t/Hour), int(t%Hour/Minute)
	if HasBit(uint64(c.Hours), h) {
		if HasBit(c.Minutes, m) {
			if s, ok := c.nextSecond(t % Minute); ok {
				return Wall(h)*Hour + Wall(m)*Minute + s, true
			}
		}
		if m = nextBit(c.Minutes, m+1); m >= 0 {
			return Wall(h)*Hour + Wall(m)*Minute + c.firstSecond(), true
		}
	}
	if h = nextBit(uint64(c.Hours), h+1); h >= 0 {
		return Wall(h)*Hour + Wall(nextBit(c.Minutes, 0))*Minute + c.firstSecond(), true
	}
	return 0, false
}

// Prev returns the latest time of day that is at most t.
func (c *Clock) Prev(t Wall) (Wall, bool) {
	h, m := int(t/Hour), int(t%Hour/Minute)
	if HasBit(uint64(c.Hours), h) {
		if HasBit(c.Minutes, m) {
			if s, ok := c.prevSecond(t % Minute); ok {
				return Wall(h)*Hour + Wall(m)*Minute + s, true
			}
		}
		if m = prevBit(c.Minutes, m-1); m >= 0 {
			return Wall(h)*Hour + Wall(m)*Minute + c.lastSecond(), true
		}
	}
	if h = prevBit(uint64(c.Hours), h-1); h >= 0 {
		return Wall(h)*Hour + Wall(prevBit(c.Minutes, 59))*Minute + c.lastSecond(), true
	}
	return 0, false
}

func (c *Clock) first() Wall {
	t, _ := c.Next(0)
	return t
}

func (c *Clock) last() Wall {
	t, _ := c.Prev(Day - 1)
	return t
}

func (c *Clock) firstSecond() Wall {
	s, _ := c.nextSecond(0)
	return s
}

func (c *Clock) lastSecond() Wall {
	s, _ := c.prevSecond(Minute - 1)
	return s
}

func (c *Clock) nextSecond(t Wall) (Wall, bool) {
	if c.Parts != nil {
		s, ok := c.Parts.next(int64(t), int64(Minute)-1)
		return Wall(s), ok
	}
	s := nextBit(c.Seconds, int((t+Second-1)/Second))
	return Wall(s) * Second, s >= 0
}

func (c *Clock) prevSecond(t Wall) (Wall, bool) {
	if c.Parts != nil {
		s, ok := c.Parts.prev(int64(t), int64(Minute)-1)
		return Wall(s), ok
	}
	s := prevBit(c.Seconds, int(t/Second))
	return Wall(s) * Second, s >= 0
}
