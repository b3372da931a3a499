package chart

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

var weekdays = [7]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

// heat is the class of a count.
func heat(n, most int) string {
	if n == 0 || most == 0 {
		return "h0"
	}
	return fmt.Sprintf("h%d", 1+min(3, 4*(n-1)/max(most, 1)))
}

// Day is a day of a year that [Year] draws.
type Day struct {
	Count int
	Class string // of the day's worst run; empty: by the count
	Title string
}

// Year draws the days from the week of a date on, 53 weeks, as a calendar: a column for
// each week, Monday first. days returns a day.
func Year(from time.Time, days func(day time.Time) Day) string {
	const size, left, top = 14, 34, 18
	c := &canvas{}
	start := from.AddDate(0, 0, -(int(from.Weekday())+6)%7)
	most := 0
	for i := range 53 * 7 {
		most = max(most, days(start.AddDate(0, 0, i)).Count)
	}
	for _, day := range []int{0, 2, 4, 6} {
		c.label(left-4, float64(top+day*size+10), "end", weekdays[day][:3])
	}
	for week := range 53 {
		for day := range 7 {
			date := start.AddDate(0, 0, week*7+day)
			d := days(date)
			class := d.Class
			if class == "" {
				class = heat(d.Count, most)
			}
			x, y := float64(left+week*size), float64(top+day*size)
			c.box(x, y, size-2, size-2, class, date.Format("Mon 2006-01-02")+": "+d.Title)
			if class == "bad" { // another shape, too
				c.add(`<path class="cut" d="m%.0f %.0f 5 5m0-5-5 5"/>`, x+3.5, y+3.5)
			}
			if date.Day() == 1 {
				c.label(float64(left+week*size), top-5, "start", date.Format("Jan"))
			}
		}
	}
	return c.drawing(left+53*size, top+7*size, "A year of ticks")
}

// square is the outline of a day, as low as in a strip if nothing happened that should have, and the marks that tell
// it from others without its colour: light ones, and dark ones.
func square(x, y int, class string) (box, cut, mark string) {
	switch class {
	case "bad":
		cut = fmt.Sprintf("M%d %dl5 5m0-5-5 5", x+4, y+4)
	case "warn":
		mark = fmt.Sprintf("M%d %dv4m0 2v1", x+6, y+3)
	case "busy", "wait":
		mark = fmt.Sprintf("M%d %dh4", x+4, y+6)
	case "stop":
		cut = fmt.Sprintf("M%d %dh4", x+4, y+6)
	case "off":
		return fmt.Sprintf("M%d %dh12v4h-12z", x, y+8), "", ""
	}
	return fmt.Sprintf("M%d %dh12v12h-12z", x, y), cut, mark
}

// Square is a day of [Month] alone, for a legend.
func Square(class string) string {
	box, cut, mark := square(1, 1, class)
	return fmt.Sprintf(`<svg class="square" viewBox="0 0 14 14" aria-hidden="true"><path class=%q d=%q/><path class="cut" d=%q/><path class="mark" d=%q/></svg>`, escape(class), box, cut, mark)
}

// Month draws the days of a month: a row for each week, Monday first. What has no title is one path
// for each class, so that a month takes some thousand bytes. The frame marks today.
func Month(month, today time.Time, days func(day time.Time) Day) string {
	const size = 14
	c := &canvas{}
	for i, name := range weekdays {
		c.label(float64(i*size+6), 9, "middle", name[:1])
	}
	plain := map[string]string{}
	first := time.Date(month.Year(), month.Month(), 1, 12, 0, 0, 0, month.Location())
	column, row := int(first.Weekday()+6)%7, 1
	for day := first; day.Month() == first.Month(); day = day.AddDate(0, 0, 1) {
		x, y, d := column*size, row*size, days(day)
		box, cut, mark := square(x, y, d.Class)
		if d.Title == "" {
			plain[d.Class] += box
		} else {
			c.linked("", day.Format("Mon 2 Jan: ")+d.Title, fmt.Sprintf(`class=%q d=%q`, escape(d.Class), box))
		}
		plain["cut"] += cut
		plain["mark"] += mark
		if day.Format(time.DateOnly) == today.Format(time.DateOnly) {
			plain["today"] += fmt.Sprintf("M%d %dh14v14h-14z", x-1, y-1)
		}
		if column++; column == 7 {
			column, row = 0, row+1
		}
	}
	for _, class := range slices.Sorted(maps.Keys(plain)) {
		c.add(`<path class=%q d=%q/>`, class, plain[class])
	}
	return c.drawing(7*size-2, 7*size, first.Format("January 2006"))
}
