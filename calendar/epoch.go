package calendar

import "github.com/nextrun/nextrun/calendar/internal/elapse"

// epoch reads `@` and seconds since 1970-01-01T00:00:00Z: an event that elapses once.
func (s *eventParser) epoch(spec *eventSpec) error {
	at := s.pos
	s.pos++
	n, err := s.number(1)
	if err != nil {
		return err
	}
	if !s.done() {
		return s.fail("expected the end of the timer after the seconds since 1970")
	}
	if elapse.Wall(n) > elapse.LastWall/elapse.Second {
		return s.failAt(at, "seconds since 1970 must not go beyond the year %d", elapse.LastYear)
	}
	days, clock := (elapse.Wall(n) * elapse.Second).Split()
	d := elapse.DateOf(days)
	only := func(v int64) elapse.Chain { return elapse.Chain{elapse.One(v)} }
	spec.years, spec.months, spec.days = only(int64(d.Year)), only(int64(d.Month)), only(int64(d.Day))
	spec.hours, spec.minutes = only(int64(clock/elapse.Hour)), only(int64(clock%elapse.Hour/elapse.Minute))
	spec.seconds = only(int64(clock % elapse.Minute))
	spec.zone = "UTC"
	return nil
}
