package calendar

import (
	"fmt"
	"strconv"
	"strings"
)

// cronField describes one of the seven fields.
type cronField struct {
	name      string
	low, high int
}

const (
	cronSecond = iota
	cronMinute
	cronHour
	cronDay
	cronMonth
	cronWeekday
	cronYear
)

var cronFields = [7]cronField{
	{"second", 0, 59}, {"minute", 0, 59}, {"hour", 0, 23}, {"day of the month", 1, 31}, {"month", 1, 12},
	{"weekday", 0, 7}, {"year", 0, 9999},
}

// cronParser collects the sets of the fields.
type cronParser struct {
	timer  string
	normal []string
	sets   [cronYear]uint64
	years  [4]uint64
	days   cronDays
}

// expression reads 5 fields, 6 (seconds in front, or a year of four digits at the end), or 7.
func (p *cronParser) expression(words []word) error {
	if len(words) < 5 || len(words) > 7 {
		return p.fail(len(p.timer), "a cron expression has 5 to 7 fields, this one has %d", len(words))
	}
	first := 0
	if len(words) == 5 || len(words) == 6 && hasYear(words[5].text) {
		first = 1
		p.sets[cronSecond] = 1
	}
	for i := range p.years {
		p.years[i] = ^uint64(0)
	}
	for i, w := range words {
		if err := p.field(first+i, w); err != nil {
			return err
		}
	}
	p.days.combine(p.text(words, first, cronDay), p.text(words, first, cronWeekday))
	return nil
}

func (p *cronParser) text(words []word, first, field int) string { return words[field-first].text }

// hasYear reports whether the text has four digits in a row.
func hasYear(text string) bool {
	run := 0
	for i := range len(text) {
		if !isDigit(text[i]) {
			run = 0
		} else if run++; run == 4 {
			return true
		}
	}
	return false
}

func (p *cronParser) fail(at int, format string, args ...any) error {
	return &ParseError{p.timer, min(at, len(p.timer)), fmt.Sprintf(format, args...)}
}

// field reads a list of items.
func (p *cronParser) field(f int, w word) error {
	if f == cronYear {
		p.years = [4]uint64{}
	}
	var normal []string
	at := w.at
	for _, item := range strings.Split(w.text, ",") {
		text, err := p.item(f, strings.ToUpper(item), at)
		if err != nil {
			return err
		}
		normal = append(normal, text)
		at += len(item) + 1
	}
	p.normal = append(p.normal, strings.Join(normal, ","))
	return nil
}

// item reads one item of a list and returns its normal form.
func (p *cronParser) item(f int, text string, at int) (string, error) {
	if text == "*" || text == "?" {
		p.add(f, cronFields[f].low, cronFields[f].high, 1)
		return text, nil
	}
	if normal, ok, err := p.special(f, text, at); ok || err != nil {
		return normal, err
	}
	body, stepText, stepped := strings.Cut(text, "/")
	step, normal := 1, ""
	if stepped {
		n, ok := cronNumber(stepText)
		if !ok || n == 0 {
			return "", p.fail(at+len(body)+1, "expected a step of at least 1 after `/`")
		}
		step, normal = n, "/"+strconv.Itoa(n)
	}
	if body == "*" {
		p.add(f, cronFields[f].low, cronFields[f].high, step)
		return body + normal, nil
	}
	lowText, highText, ranged := strings.Cut(body, "-")
	low, err := p.value(f, lowText, at, stepped && !ranged)
	if err != nil {
		return "", err
	}
	if !ranged {
		p.add(f, low, cronEnd(f, low, stepped), step)
		return strconv.Itoa(low) + normal, nil
	}
	high, err := p.value(f, highText, at+len(lowText)+1, false)
	if err != nil {
		return "", err
	}
	normal = strconv.Itoa(low) + "-" + strconv.Itoa(high) + normal
	if f == cronWeekday && low == 7 && high != 7 && !stepped {
		low = 0
	}
	if high < low {
		return "", p.fail(at, "the range ends before it starts")
	}
	p.add(f, low, high, step)
	return normal, nil
}

// cronEnd returns where an item without a range ends.
func cronEnd(f, low int, stepped bool) int {
	switch {
	case !stepped:
		return low
	case f == cronWeekday:
		return 6
	}
	return cronFields[f].high
}

// value reads a number or a name. A repetition may start with 0 in every field.
func (p *cronParser) value(f int, text string, at int, repeated bool) (int, error) {
	n, ok := cronNumber(text)
	if !ok {
		return 0, p.fail(at, "expected a %s", cronFields[f].name)
	}
	if low, high := cronFields[f].low, cronFields[f].high; n > high || n < low && !(repeated && n == 0) {
		return 0, p.fail(at, "a %s must lie in %d..%d", cronFields[f].name, low, high)
	}
	return n, nil
}

const cronMonths = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"
const cronWeekdays = "SUNMONTUEWEDTHUFRISAT"

// cronNumber reads digits or a name of three letters.
func cronNumber(text string) (int, bool) {
	if len(text) == 3 && isLetter(text[0]) {
		if i := strings.Index(cronMonths, text); i >= 0 && i%3 == 0 {
			return i/3 + 1, true
		}
		i := strings.Index(cronWeekdays, text)
		return i / 3, i >= 0 && i%3 == 0
	}
	if text == "" {
		return 0, false
	}
	n := 0
	for i := range len(text) {
		if !isDigit(text[i]) {
			return 0, false
		}
		n = min(n*10+int(text[i]-'0'), 1<<30)
	}
	return n, true
}

// add puts low, low+step, ... up to high into the set of a field.
func (p *cronParser) add(f, low, high, step int) {
	if f == cronWeekday && low == 7 && high == 6 {
		low = 0
	}
	for v := low; v <= high; v += step {
		switch {
		case f != cronYear:
			p.sets[f] |= 1 << v
		case v >= firstYear && v <= lastYear:
			p.years[(v-firstYear)/64] |= 1 << ((v - firstYear) % 64)
		}
	}
}

// compile makes the sets of an expression that has been read.
func (p *cronParser) compile() timetable {
	p.days.days = uint32(p.sets[cronDay])
	p.days.weekdays |= cronWeek(p.sets[cronWeekday])
	return timetable{
		dates: compileDates(p.years, uint16(p.sets[cronMonth]), &p.days),
		clock: clock{
			hours:   uint32(p.sets[cronHour]),
			minutes: p.sets[cronMinute],
			seconds: p.sets[cronSecond],
		},
	}
}

// cronWeek turns days from 0 for Sunday to 7 for Sunday into days from 0 for Monday.
func cronWeek(set uint64) uint8 {
	set |= set >> 7 << 0 & 1
	return uint8(set>>1&(1<<6-1) | set&1<<6)
}
