package calendar

import "strings"

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
	d.Both = d.AnyDay || strings.HasPrefix(day, "*") || strings.HasPrefix(weekday, "*/")
}
