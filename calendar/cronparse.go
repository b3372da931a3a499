package calendar

import (
	"strings"

	"github.com/nextrun/nextrun/calendar/internal/elapse"
)

// cronParser collects the sets of the fields.
type cronParser struct {
	text
	reading int // the field that is read
	normal  []string
	sets    [cronYear]uint64
	years   elapse.YearSet
	days    elapse.CronDays
}

// expression reads 5 fields, 6 (seconds in front, or a year of four digits at the end), or 7.
func (p *cronParser) expression(words []word) error {
	if len(words) < 5 || len(words) > 7 {
		at := len(p.timer)
		if len(words) > 7 {
			at = words[7].at
		}
		return p.failAt(at, "a cron expression has 5 to 7 fields, this one has %d", len(words))
	}
	first := 0
	if len(words) == 5 || len(words) == 6 && hasYear(words[5].text) {
		first = 1
		p.sets[cronSecond] = 1
	}
	if first+len(words) <= cronYear {
		p.years = elapse.EveryYear()
	}
	for i, w := range words {
		p.reading = first + i
		if err := p.field(p.reading, w); err != nil {
			return err
		}
	}
	p.combineDays(p.normal[cronDay-first], p.normal[cronWeekday-first])
	if len(words) == 6 && first == 1 && !hasYear(p.normal[5]) {
		// The year has lost its zeros, and must not be read as a weekday.
		p.normal = append([]string{"0"}, p.normal...)
	}
	return nil
}

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

// field reads a list of items.
func (p *cronParser) field(f int, w word) error {
	var normal strings.Builder
	at := w.at
	for text := range strings.SplitSeq(w.text, ",") {
		item, err := p.item(f, strings.ToUpper(text), at)
		if err != nil {
			return err
		}
		if at > w.at {
			normal.WriteByte(',')
		}
		normal.WriteString(item)
		at += len(text) + 1
	}
	p.normal = append(p.normal, normal.String())
	return nil
}

// item reads one item of a list and returns its normal form.
func (p *cronParser) item(f int, text string, at int) (string, error) {
	if text == "*" || text == "?" {
		p.add(f, cronItem{low: cronFields[f].low, high: cronFields[f].high, step: 1})
		return text, nil
	}
	if normal, ok, err := p.special(f, text, at); ok || err != nil {
		return normal, err
	}
	i, err := p.numbers(f, text, at)
	if err != nil {
		return "", err
	}
	p.add(f, i)
	return i.String(), nil
}

// numbers reads a, a-b, a/step, a-b/step or */step.
func (p *cronParser) numbers(f int, text string, at int) (i cronItem, err error) {
	body, step, stepped := strings.Cut(text, "/")
	i.step, i.stepped = 1, stepped
	if stepped {
		var ok bool
		if i.step, ok = cronNumber(step); !ok || i.step == 0 || !isDigit(step[0]) {
			return i, p.failAt(at+len(body)+1, "expected a step of at least 1 after `/`")
		}
	}
	if body == "*" {
		i.low, i.high, i.star = cronFields[f].low, cronFields[f].high, true
		return i, nil
	}
	low, high, ranged := strings.Cut(body, "-")
	if i.low, err = p.value(f, low, at, stepped && !ranged); err != nil {
		return i, err
	}
	if !ranged {
		i.high = i.lastOf(f)
		return i, nil
	}
	i.ranged = true
	if i.high, err = p.value(f, high, at+len(low)+1, false); err != nil {
		return i, err
	}
	if i.high < i.low && !(f == cronWeekday && i.low == 7 && !stepped) {
		meant := ""
		if f == cronWeekday && i.high == 0 {
			meant = low + "-7"
		}
		return i, p.failMeant(at, meant, "the range %s ends before it starts", body)
	}
	return i, nil
}

// value reads a number or a name. A repetition may start with 0 in every field.
func (p *cronParser) value(f int, text string, at int, repeated bool) (int, error) {
	field := &cronFields[f]
	n, ok := cronNumber(text)
	switch {
	case strings.Contains(text, "~"):
		return 0, p.failAt(at, "~ is a random time of cronie; write a time, and give the task a jitter")
	case text == "":
		return 0, p.failAt(at, "the %s is missing", field.name)
	case ok && !isDigit(text[0]) && !field.named(text):
		return 0, p.failAt(at, "%q is no %s", text, field.name)
	case ok && (n > field.high || n < field.low && !(repeated && n == 0)):
		return 0, p.failAt(at, "%s %s is not in %d..%d", field.name, text, field.low, field.high)
	case ok:
		return n, nil
	case f == cronDay && strings.HasPrefix(text, "L"):
		return 0, p.failAt(at, "L, the last day of the month, stands alone")
	}
	return 0, p.failNear(at, text, field.names(), "%q is no %s", text, field.name)
}

// cronNumber reads digits or one of the names.
func cronNumber(text string) (int, bool) {
	if len(text) == 3 && isLetter(text[0]) {
		if i := strings.Index(cronMonths, text); i >= 0 && i%3 == 0 {
			return i/3 + 1, true
		}
		i := strings.Index(cronWeekdays, text)
		return i / 3, i >= 0 && i%3 == 0
	}
	n := 0
	for i := range len(text) {
		if !isDigit(text[i]) {
			return 0, false
		}
		n = min(n*10+int(text[i]-'0'), 1<<30)
	}
	return n, text != ""
}

// special reads L and nW among days of the month, dL and d#n among weekdays.
func (p *cronParser) special(f int, text string, at int) (normal string, ok bool, err error) {
	switch {
	case f == cronDay && text == "L":
		p.days.Last = true
		return text, true, nil
	case f == cronDay && strings.HasSuffix(text, "W"):
		n, err := p.value(f, strings.TrimSuffix(text, "W"), at, false)
		if err == nil {
			p.days.Workdays |= 1 << n
		}
		return text, true, err
	case f == cronWeekday && strings.HasSuffix(text, "L"):
		n, err := p.value(f, strings.TrimSuffix(text, "L"), at, false)
		if err == nil {
			p.days.LastOf |= cronWeek(1 << n)
		}
		return string(rune('0'+n)) + "L", true, err
	case f == cronWeekday && strings.Contains(text, "#"):
		d, n, _ := strings.Cut(text, "#")
		weekday, err := p.value(f, d, at, false)
		if err != nil {
			return "", true, err
		}
		if len(n) != 1 || n[0] < '1' || n[0] > '5' {
			return "", true, p.failAt(at+len(d)+1, "expected 1 to 5 after `#`")
		}
		p.days.Nth[n[0]-'0'] |= cronWeek(1 << weekday)
		return string(rune('0'+weekday)) + "#" + n, true, nil
	}
	return "", false, nil
}

// combineDays sets how days of the month and weekdays go together. As usual with cron, a day
// matches when one of two restricted fields does; when one of them starts with a star, both must.
func (p *cronParser) combineDays(day, weekday string) {
	d := &p.days
	d.AnyDay = day == "*" || day == "?"
	d.AnyWeekday = weekday == "*" || weekday == "?"
	d.Both = strings.HasPrefix(day, "*") || day == "?" || strings.HasPrefix(weekday, "*")
}

// add puts the numbers of an item into the set of a field.
func (p *cronParser) add(f int, i cronItem) {
	if f == cronWeekday && i.low == 7 && i.high != 7 {
		i.low = 0 // 7 is Sunday too
	}
	if f == cronYear && i.low < elapse.FirstYear {
		i.low += (elapse.FirstYear - i.low + i.step - 1) / i.step * i.step
	}
	for v := i.low; v <= i.high; v += i.step {
		switch {
		case v < cronFields[f].low: // where a repetition started
		case f != cronYear:
			p.sets[f] |= 1 << v
		case v > elapse.LastYear:
			return
		default:
			p.years.Add(v)
		}
	}
}

// rule returns the days of an expression that has been read.
func (p *cronParser) rule() elapse.DateRule {
	p.days.Days = uint32(p.sets[cronDay])
	p.days.Weekdays = cronWeek(p.sets[cronWeekday])
	return elapse.DateRule{Years: p.years, Months: uint16(p.sets[cronMonth]), Days: &p.days}
}

// cronWeek turns days from 0 for Sunday to 7 for Sunday into days from 0 for Monday.
func cronWeek(set uint64) uint8 {
	set |= set >> 7 & 1
	return uint8(set>>1&(1<<6-1) | set&1<<6)
}

// clock returns the times of day of an expression that has been read.
func (p *cronParser) clock() elapse.Clock {
	return elapse.Clock{Hours: uint32(p.sets[cronHour]), Minutes: p.sets[cronMinute], Seconds: p.sets[cronSecond]}
}
