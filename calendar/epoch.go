package calendar

// epoch reads `@` and seconds since 1970-01-01T00:00:00Z: an event that elapses once.
func (s *scanner) epoch(spec *eventSpec) error {
	at := s.pos
	s.pos++
	n, err := s.number(1)
	if err != nil {
		return err
	}
	if !s.done() {
		return s.fail("expected the end of the timer after the seconds since 1970")
	}
	if wall(n) > lastWall/second {
		return s.failAt(at, "seconds since 1970 must not go beyond the year %d", lastYear)
	}
	days, clock := (wall(n) * second).split()
	d := dateOf(days)
	one := func(v int64) chain { return chain{{v, -1, 0}} }
	spec.years, spec.months, spec.days = one(int64(d.year)), one(int64(d.month)), one(int64(d.day))
	spec.hours, spec.minutes = one(int64(clock/hour)), one(int64(clock%hour/minute))
	spec.seconds = one(int64(clock % minute))
	spec.zone = "UTC"
	return nil
}
