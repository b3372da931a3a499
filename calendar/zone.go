package calendar

import (
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the zone database, for machines that have none
)

// instant is a moment, in microseconds since 1970-01-01T00:00:00Z.
type instant int64

func instantOf(t time.Time) instant {
	const limit = 1 << 40 // seconds; far beyond the supported years, far within 64 bits of microseconds
	sec := min(max(t.Unix(), -limit), limit)
	return instant(sec)*instant(second) + instant(t.Nanosecond()/1000)
}

func (i instant) time() time.Time { return time.UnixMicro(int64(i)).UTC() }

// period is a stretch of time in which the offset of a zone does not change. It ends where the next one starts.
type period struct {
	start  instant
	offset wall // what the clock shows minus UTC
}

// zone is a zone of the database with its periods tabulated for the supported years. It is immutable.
type zone struct {
	name     string
	location *time.Location
	periods  []period // the first one starts before every supported year
}

// beyondOffsets is more than any offset from UTC, and more than any change of the clock.
const beyondOffsets = 2 * day

// The instants between which a wall clock can show a supported year, whatever its offset.
const (
	firstInstant = instant(firstWall - beyondOffsets)
	lastInstant  = instant(lastWall + beyondOffsets)
)

var utc = &zone{name: "UTC", location: time.UTC, periods: []period{{firstInstant, 0}}}

// zones caches by name. Only names that exist get in, so that it stays small whatever users write.
var zones sync.Map // string to *zone

// zoneNamed returns a zone of the database. The names UTC and utc need no database.
func zoneNamed(name string) (*zone, error) {
	if strings.EqualFold(name, "UTC") {
		return utc, nil
	}
	if z, ok := zones.Load(name); ok {
		return z.(*zone), nil
	}
	if !plausibleZone(name) {
		return nil, fmt.Errorf("%q is not the name of a time zone", name)
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %q", name)
	}
	z, _ := zones.LoadOrStore(name, &zone{name, location, periodsOf(location)})
	return z.(*zone), nil
}

// plausibleZone tells names of the database from paths and from names whose meaning depends on the machine.
func plausibleZone(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for _, part := range strings.Split(name, "/") {
		if part == "" || !isLetter(part[0]) {
			return false
		}
	}
	for i := range len(name) {
		if c := name[i]; !isLetter(c) && !isDigit(c) && !strings.ContainsRune("/_+-", rune(c)) {
			return false
		}
	}
	switch top, _, _ := strings.Cut(name, "/"); top {
	case "Local", "localtime", "posixrules", "posix", "right":
		return false
	}
	return true
}

// periodsOf lists the periods of a location. ZoneBounds may end a period early, even where it starts, as it does on the
// last day of a leap year; a day is added then, and a change of the clock on that day is searched for.
func periodsOf(location *time.Location) []period {
	at := firstInstant
	list := []period{{at, offsetAt(location, at)}}
	for at < lastInstant {
		_, end := at.time().In(location).ZoneBounds()
		if end.IsZero() {
			break
		}
		next := instantOf(end)
		if next <= at {
			next = at + instant(day)
			if offsetAt(location, next) != offsetAt(location, at) {
				next = changeBetween(location, at, next)
			}
		}
		at = next
		if offset := offsetAt(location, at); offset != list[len(list)-1].offset {
			list = append(list, period{at, offset})
		}
	}
	return list
}

func offsetAt(location *time.Location, at instant) wall {
	_, offset := at.time().In(location).Zone()
	return wall(offset) * second
}

// changeBetween returns the second at which the offset becomes another than at low.
func changeBetween(location *time.Location, low, high instant) instant {
	offset := offsetAt(location, low)
	for high-low > instant(second) {
		if middle := low + (high-low)/2/instant(second)*instant(second); offsetAt(location, middle) == offset {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// index returns the period in which an instant lies; the first one for instants before it.
func (z *zone) index(at instant) int {
	if len(z.periods) == 1 {
		return 0
	}
	return max(sort.Search(len(z.periods), func(i int) bool { return z.periods[i].start > at })-1, 0)
}

// end returns the instant at which a period is over.
func (z *zone) end(i int) instant {
	if i+1 < len(z.periods) {
		return z.periods[i+1].start
	}
	return lastInstant
}

// resolve returns the instant at which the clock shows w: the first one when there are two. A reading that is left out
// by a change of the clock counts with the offset before the change (RFC 5545, section 3.3.5).
func (z *zone) resolve(w wall) instant {
	for i := z.index(instant(w - beyondOffsets)); ; i++ {
		p := z.periods[i]
		if i+1 < len(z.periods) && w >= wall(z.end(i))+p.offset {
			continue
		}
		if i > 0 && w < wall(p.start)+p.offset {
			return instant(w - z.periods[i-1].offset)
		}
		return instant(w - p.offset)
	}
}
