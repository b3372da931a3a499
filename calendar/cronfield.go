package calendar

import (
	"strconv"
	"strings"
)

// The fields of a cron expression; the first and the last one may be absent.
const (
	cronSecond = iota
	cronMinute
	cronHour
	cronDay
	cronMonth
	cronWeekday
	cronYear
)

// cronField says what a field may hold.
type cronField struct {
	name      string
	low, high int
	letters   string // names of three letters, in a row
}

var cronFields = [...]cronField{
	cronSecond:  {name: "second", low: 0, high: 59},
	cronMinute:  {name: "minute", low: 0, high: 59},
	cronHour:    {name: "hour", low: 0, high: 23},
	cronDay:     {name: "day of the month", low: 1, high: 31},
	cronMonth:   {name: "month", low: 1, high: 12, letters: cronMonths},
	cronWeekday: {name: "weekday", low: 0, high: 7, letters: cronWeekdays},
	cronYear:    {name: "year", low: 0, high: 9999},
}

const (
	cronMonths   = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"
	cronWeekdays = "SUNMONTUEWEDTHUFRISAT"
)

func (f *cronField) names() (list []string) {
	for i := 0; i < len(f.letters); i += 3 {
		list = append(list, f.letters[i:i+3])
	}
	return list
}

func (f *cronField) named(name string) bool {
	i := strings.Index(f.letters, name)
	return i >= 0 && i%3 == 0
}

// cronItem is an item of a list that consists of numbers: low, low+step, ... up to high.
type cronItem struct {
	low, high, step       int
	star, ranged, stepped bool
}

// lastOf returns where an item without a range ends.
func (i cronItem) lastOf(f int) int {
	switch {
	case !i.stepped:
		return i.low
	case f == cronWeekday:
		return 6
	}
	return cronFields[f].high
}

// String returns the item in normal form.
func (i cronItem) String() string {
	text := strconv.Itoa(i.low)
	if i.star {
		text = "*"
	}
	if i.ranged {
		text += "-" + strconv.Itoa(i.high)
	}
	if i.stepped {
		text += "/" + strconv.Itoa(i.step)
	}
	return text
}
