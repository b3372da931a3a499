package finish

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// By is by when a job has to have succeeded: a duration after the tick's due, or a time of day. The zero
// value is no such time.
type By struct {
	after time.Duration
	clock time.Duration // since midnight
	daily bool
	zone  *time.Location
}

// longest is the longest duration after due.
const longest = 365 * 24 * time.Hour

var timeOfDay = regexp.MustCompile(`^(\d\d?):(\d\d)(?::(\d\d))?$`)

// Parse reads a value of the column finish_by: a duration such as 90m, 2h or 1h30m, or a time of day such as 06:30
// in a zone. An empty text is no time.
func Parse(text string, zone *time.Location) (By, error) {
	if text == "" {
		return By{}, nil
	}
	if part := timeOfDay.FindStringSubmatch(text); part != nil {
		number := func(i int) int { n, _ := strconv.Atoi(part[i]); return n } // of at most two digits; none is 0
		hour, minute, second := number(1), number(2), number(3)
		if hour > 23 || minute > 59 || second > 59 {
			return By{}, fmt.Errorf("finish_by %q is no time of day; use 00:00 to 23:59, or a duration after the tick's due such as 2h", text)
		}
		clock := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
		return By{clock: clock, daily: true, zone: zone}, nil
	}
	after, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return By{}, fmt.Errorf("finish_by %q is neither a duration after the tick's due, such as 2h or 1h30m, nor a time of day, such as 06:30", text)
	case after < time.Second || after > longest || after%time.Second != 0:
		return By{}, fmt.Errorf("finish_by %q is not from 1s to %s, in whole seconds", text, "8760h")
	}
	return By{after: after}, nil
}

// Of is when the job of a tick has to have succeeded; zero: at any time. A time of day is the first one after
// due. Where the clock is set forward, a time that does not exist is the one that the clock shows instead, as with timers:
// 03:30 for 02:30. One that exists twice is meant the first time, if that is after due.
func (b By) Of(due time.Time) time.Time {
	if !b.daily {
		if b.after == 0 {
			return time.Time{}
		}
		return due.Add(b.after).UTC()
	}
	year, month, day := due.In(b.zone).Date()
	for n := 0; ; n++ {
		wall := time.Date(year, month, day+n, 0, 0, 0, 0, time.UTC).Add(b.clock)
		for _, at := range b.instants(wall) {
			if at.After(due) {
				return at
			}
		}
	}
}

// instants are those at which the clock of the zone shows a time, the earliest first.
func (b By) instants(wall time.Time) []time.Time {
	const day = 24 * time.Hour // clocks are not set twice within two
	before, after := wall.Add(-offset(wall.Add(-day), b.zone)), wall.Add(-offset(wall.Add(day), b.zone))
	switch shows := func(at time.Time) bool { return at.Add(offset(at, b.zone)).Equal(wall) }; {
	case shows(before) && shows(after) && before.Before(after):
		return []time.Time{before, after}
	case shows(after):
		return []time.Time{after}
	}
	return []time.Time{before} // the clock shows it, or skips it
}

func offset(at time.Time, zone *time.Location) time.Duration {
	_, seconds := at.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}
