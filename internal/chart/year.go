package chart

import (
	"fmt"
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
