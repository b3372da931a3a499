package calendar

// clock is the set of times of day at which a timer elapses: any of the hours with any of the minutes with any of the
// seconds. None of the sets is empty.
type clock struct {
	hours   uint32
	minutes uint64
	seconds uint64 // whole seconds of the minute; unused when parts is set
	parts   chain  // seconds in microseconds, when one of them has a fraction
}

// everyHour reports whether the hours leave no gap, so that the timer goes on through an hour that occurs twice.
func (c *clock) everyHour() bool { return c.hours == 1<<24-1 }

// next returns the earliest time of day that is at least t.
func (c *clock) next(t wall) (wall, bool) {
	h, m := int(t/hour), int(t%hour/minute)
	if hasBit(uint64(c.hours), h) {
		if hasBit(c.minutes, m) {
			if s, ok := c.nextSecond(t % minute); ok {
				return wall(h)*hour + wall(m)*minute + s, true
			}
		}
		if m = nextBit(c.minutes, m+1); m >= 0 {
			return wall(h)*hour + wall(m)*minute + c.firstSecond(), true
		}
	}
	if h = nextBit(uint64(c.hours), h+1); h >= 0 {
		return wall(h)*hour + wall(nextBit(c.minutes, 0))*minute + c.firstSecond(), true
	}
	return 0, false
}

// prev returns the latest time of day that is at most t.
func (c *clock) prev(t wall) (wall, bool) {
	h, m := int(t/hour), int(t%hour/minute)
	if hasBit(uint64(c.hours), h) {
		if hasBit(c.minutes, m) {
			if s, ok := c.prevSecond(t % minute); ok {
				return wall(h)*hour + wall(m)*minute + s, true
			}
		}
		if m = prevBit(c.minutes, m-1); m >= 0 {
			return wall(h)*hour + wall(m)*minute + c.lastSecond(), true
		}
	}
	if h = prevBit(uint64(c.hours), h-1); h >= 0 {
		return wall(h)*hour + wall(prevBit(c.minutes, 59))*minute + c.lastSecond(), true
	}
	return 0, false
}

func (c *clock) first() wall {
	t, _ := c.next(0)
	return t
}

func (c *clock) last() wall {
	t, _ := c.prev(day - 1)
	return t
}

func (c *clock) firstSecond() wall {
	s, _ := c.nextSecond(0)
	return s
}

func (c *clock) lastSecond() wall {
	s, _ := c.prevSecond(minute - 1)
	return s
}

func (c *clock) nextSecond(t wall) (wall, bool) {
	if c.parts != nil {
		s, ok := c.parts.next(int64(t), int64(minute)-1)
		return wall(s), ok
	}
	s := nextBit(c.seconds, int((t+second-1)/second))
	return wall(s) * second, s >= 0
}

func (c *clock) prevSecond(t wall) (wall, bool) {
	if c.parts != nil {
		s, ok := c.parts.prev(int64(t), int64(minute)-1)
		return wall(s), ok
	}
	s := prevBit(c.seconds, int(t/second))
	return wall(s) * second, s >= 0
}
