package chart

import (
	"fmt"
	"time"
)

// Week counts what happens in each hour of a week: [Monday is 0][hour].
type Week [7][24]int

// Add counts a time, which is in the zone of the week.
func (w *Week) Add(at time.Time) { w[(int(at.Weekday())+6)%7][at.Hour()]++ }

// Most is the greatest count.
func (w *Week) Most() (most int) {
	for _, day := range w {
		for _, n := range day {
			most = max(most, n)
		}
	}
	return most
}

var weekdays = [7]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

// Draw draws the week as a heat map. A click on a cell leads to link(day, hour), unless
// link is nil.
func (w *Week) Draw(link func(day, hour int) string) string {
	const size, left, top = 34, 84, 18
	c := &canvas{}
	most := w.Most()
	for hour := range 24 {
		c.label(left+float64(hour)*size+size/2, top-5, "middle", fmt.Sprintf("%02d", hour))
	}
	for day := range 7 {
		y := float64(top + day*size)
		c.label(left-6, y+size/2+4, "end", weekdays[day])
		for hour := range 24 {
			n := w[day][hour]
			x := float64(left + hour*size)
			if link != nil {
				c.add(`<a href="%s">`, escape(link(day, hour)))
			}
			c.box(x, y, size-2, size-2, heat(n, most), fmt.Sprintf("%s %02d:00 to %02d:00: %d", weekdays[day], hour, hour+1, n))
			if n > 0 {
				c.add(`<text x="%.1f" y="%.1f" text-anchor="middle" class="count">%s</text>`, x+size/2-1, y+size/2+3, compact(n))
			}
			if link != nil {
				c.add(`</a>`)
			}
		}
	}
	return c.drawing(left+24*size, top+7*size, "Ticks by weekday and hour")
}

// heat is the class of a count.
func heat(n, most int) string {
	if n == 0 || most == 0 {
		return "h0"
	}
	return fmt.Sprintf("h%d", 1+min(3, 4*(n-1)/max(most, 1)))
}

// compact writes a count in at most four characters.
func compact(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
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
