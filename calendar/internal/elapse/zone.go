package elapse

import (
	"fmt"
	"hash/fnv"
	"sort"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the zone database, for machines that have none
)

// Instant is a moment, in microseconds since 1970-01-01T00:00:00Z.
type Instant int64

// InstantOf returns the instant of a time; fractions of a microsecond are dropped.
func InstantOf(t time.Time) Instant {
	const limit = 1 << 40 // seconds; beyond the supported years, and no overflow in microseconds
	sec := min(max(t.Unix(), -limit), limit)
	return Instant(sec)*Instant(Second) + Instant(t.Nanosecond()/1000)
}

// Time returns the instant as a time in UTC.
func (i Instant) Time() time.Time { return time.UnixMicro(int64(i)).UTC() }

// period is a stretch of time in which the offset of a zone does not change. It ends where the next
// one starts.
type period struct {
	start  Instant
	offset Wall // what the clock shows minus UTC
}

// Zone is a zone of the database with its periods tabulated for the supported years. It is
// immutable.
type Zone struct {
	Name     string
	Location *time.Location
	periods  []period // the first one starts before every supported year
	rules    string   // a fingerprint of those that matter now
}

// beyondOffsets is more than any offset from UTC, and more than any change of the clock.
const beyondOffsets = 2 * Day

// The instants between which a wall clock can show a supported year, whatever its offset.
const (
	firstInstant = Instant(FirstWall - beyondOffsets)
	lastInstant  = Instant(LastWall + beyondOffsets)
)

// UTC is the zone without changes.
var UTC = &Zone{Name: "UTC", Location: time.UTC, periods: []period{{firstInstant, 0}}}

// zones caches by name. Only names that exist get in, so that it stays small whatever users write.
var zones sync.Map // string to *Zone

// ZoneNamed returns a zone of the database. The names UTC and utc need no database.
func ZoneNamed(name string) (*Zone, error) {
	if strings.EqualFold(name, "UTC") {
		return UTC, nil
	}
	if z, ok := zones.Load(name); ok {
		return z.(*Zone), nil
	}
	if !plausibleZone(name) {
		return nil, fmt.Errorf("%q is not the name of a time zone", name)
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %q", name)
	}
	made := &Zone{Name: name, Location: location, periods: periodsOf(location)}
	made.rules = made.fingerprint()
	z, _ := zones.LoadOrStore(name, made)
	return z.(*Zone), nil
}

// fingerprint is a hash of the rules of the zone in the years in which they matter. Of earlier years one machine's zone data may
// know more than another's.
func (z *Zone) fingerprint() string {
	from, until := InstantOf(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)), InstantOf(time.Date(2060, 1, 1, 0, 0, 0, 0, time.UTC))
	hash := fnv.New32a()
	_, _ = fmt.Fprint(hash, z.Reading(from), z.Changes(from, until))
	return fmt.Sprintf("%08x", hash.Sum32())
}

// Rules are fingerprints of the rules of all zones that were used so far, by their names.
func Rules() map[string]string {
	rules := map[string]string{}
	zones.Range(func(name, zone any) bool {
		rules[name.(string)] = zone.(*Zone).rules
		return true
	})
	return rules
}

// plausibleZone tells names of the database from paths and from names whose meaning depends on the
// machine.
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
		if c := name[i]; !isLetter(c) && !strings.ContainsRune("0123456789/_+-", rune(c)) {
			return false
		}
	}
	switch top, _, _ := strings.Cut(name, "/"); top {
	case "Local", "localtime", "posixrules", "posix", "right":
		return false
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// periodsOf lists the periods of a location. ZoneBounds may end a period early, even where it
// starts, as it does on the last day of a leap year; a day is added then, and a change of the clock
// on that day is searched for.
func periodsOf(location *time.Location) []period {
	at := firstInstant
	list := []period{{at, offsetAt(location, at)}}
	for at < lastInstant {
		_, end := at.Time().In(location).ZoneBounds()
		if end.IsZero() {
			break
		}
		next := InstantOf(end)
		if next <= at {
			next = at + Instant(Day)
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

func offsetAt(location *time.Location, at Instant) Wall {
	_, offset := at.Time().In(location).Zone()
	return Wall(offset) * Second
}

// changeBetween returns the second at which the offset becomes another than at low.
func changeBetween(location *time.Location, low, high Instant) Instant {
	offset := offsetAt(location, low)
	for high-low > Instant(Second) {
		if middle := low + (high-low)/2/Instant(Second)*Instant(Second); offsetAt(location, middle) == offset {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// index returns the period in which an instant lies; the first one for instants before it.
func (z *Zone) index(at Instant) int {
	if len(z.periods) == 1 {
		return 0
	}
	return max(sort.Search(len(z.periods), func(i int) bool { return z.periods[i].start > at })-1, 0)
}

// end returns the instant at which a period is over.
func (z *Zone) end(i int) Instant {
	if i+1 < len(z.periods) {
		return z.periods[i+1].start
	}
	return lastInstant
}

// Reading returns what the clock shows at an instant.
func (z *Zone) Reading(at Instant) Wall { return Wall(at) + z.periods[z.index(at)].offset }

// Change is a change of a zone's clock at an instant, from one offset to another.
type Change struct {
	At            Instant
	Before, After Wall
}

// Changes lists the changes after one instant, up to another.
func (z *Zone) Changes(after, until Instant) (list []Change) {
	for i := 1; i < len(z.periods); i++ {
		if at := z.periods[i].start; at > after && at <= until {
			list = append(list, Change{at, z.periods[i-1].offset, z.periods[i].offset})
		}
	}
	return list
}

// Resolve returns the instant at which the clock shows w: the first one when there are two. A
// reading that is left out by a change of the clock counts with the offset before the change (RFC
// 5545, section 3.3.5).
func (z *Zone) Resolve(w Wall) Instant {
	for i := z.index(Instant(w - beyondOffsets)); ; i++ {
		p := z.periods[i]
		if i+1 < len(z.periods) && w >= Wall(z.end(i))+p.offset {
			continue
		}
		if i > 0 && w < Wall(p.start)+p.offset {
			return Instant(w - z.periods[i-1].offset)
		}
		return Instant(w - p.offset)
	}
}
