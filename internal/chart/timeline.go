package chart

import (
	"fmt"
	"slices"
	"time"
)

// Run is a run of a task, or a planned one.
type Run struct {
	From, To time.Time // To equals From if it is not known how long it takes
	Class    string    // success, failed, running, planned, other
	Title    string
	Link     string // where a click leads; empty: nowhere
}

// Row are the runs of a task.
type Row struct {
	Name string
	Link string
	Runs []Run
}

// Timeline is what [Timeline.Draw] draws.
type Timeline struct {
	From, To time.Time
	Now      time.Time // a mark; zero: none
	Zone     *time.Location
	Rows     []Row
}

// Sizes of a timeline.
const (
	timelineWidth = 1000
	nameWidth     = 180
	rowHeight     = 20
	headHeight    = 22
	columnWidth   = 6 // of the runs at once
)

// Draw draws a timeline: a row for each task, runs as long as they last. Where runs of a
// task overlap it is hatched. Marks show now and the changes of the clock. The last row
// says how many runs there are at once.
func (t Timeline) Draw() string {
	c := &canvas{}
	c.add(`<defs><pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="4" class="hatch"/></pattern></defs>`)
	height := float64(headHeight + (len(t.Rows)+1)*rowHeight + 8)
	t.grid(c, height)
	var all []Run
	for i, row := range t.Rows {
		y := float64(headHeight + i*rowHeight)
		c.label(nameWidth-6, y+14, "end", shorten(row.Name, 26))
		for _, run := range row.Runs {
			t.run(c, run, y)
		}
		for _, both := range overlaps(row.Runs) {
			both.Class, both.Title = "overlap", "two runs at once"
			t.run(c, both, y)
		}
		all = append(all, row.Runs...)
	}
	t.load(c, all, float64(headHeight+len(t.Rows)*rowHeight))
	if !t.Now.IsZero() && t.Now.After(t.From) && t.Now.Before(t.To) {
		c.line(t.x(t.Now), headHeight-4, t.x(t.Now), height, "now")
	}
	return c.drawing(timelineWidth, height, fmt.Sprintf("Timeline of %d tasks from %s to %s", len(t.Rows), t.text(t.From), t.text(t.To)))
}

func (t Timeline) text(at time.Time) string { return at.In(t.Zone).Format("2006-01-02 15:04 MST") }

// x is where a time stands.
func (t Timeline) x(at time.Time) float64 {
	part := float64(at.Sub(t.From)) / float64(t.To.Sub(t.From))
	return nameWidth + min(max(part, 0), 1)*(timelineWidth-nameWidth-4)
}

// run draws a run; one without a length is a thin line.
func (t Timeline) run(c *canvas, run Run, y float64) {
	if !run.To.After(t.From) && !run.From.After(t.From) || run.From.After(t.To) {
		return
	}
	if run.Link != "" {
		c.add(`<a href="%s">`, escape(run.Link))
		defer c.add(`</a>`)
	}
	x1, x2 := t.x(run.From), t.x(run.To)
	c.box(x1, y+3, max(x2-x1, 2), rowHeight-6, run.Class, run.Title)
}

// grid draws hours or days, and the changes of the clock.
func (t Timeline) grid(c *canvas, height float64) {
	step, format := 3*time.Hour, "15:04"
	if t.To.Sub(t.From) > 48*time.Hour {
		step, format = 24*time.Hour, "Mon 2 Jan"
	}
	start := t.From.In(t.Zone)
	at := time.Date(start.Year(), start.Month(), start.Day(), 0, 0, 0, 0, t.Zone)
	for at = at.Add(step); at.Before(t.To); at = at.Add(step) {
		if at.Before(t.From) {
			continue
		}
		c.line(t.x(at), headHeight-4, t.x(at), height, "grid")
		c.label(t.x(at)+2, headHeight-8, "start", at.Format(format))
	}
	for hour := t.From; hour.Before(t.To); hour = hour.Add(time.Hour) {
		_, before := hour.In(t.Zone).Zone()
		if _, after := hour.Add(time.Hour).In(t.Zone).Zone(); before != after {
			x := t.x(hour.Add(time.Hour))
			c.add(`<g><title>the clock changes by %s</title>`, time.Duration(after-before)*time.Second)
			c.line(x, 0, x, height, "change")
			c.add(`</g>`)
		}
	}
}

// load draws how many runs there are at once.
func (t Timeline) load(c *canvas, runs []Run, y float64) {
	c.label(nameWidth-6, y+14, "end", "at once")
	type edge struct {
		at   time.Time
		step int
	}
	var edges []edge
	for _, r := range runs {
		if r.To.After(r.From) {
			edges = append(edges, edge{r.From, 1}, edge{r.To, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if n := a.at.Compare(b.at); n != 0 {
			return n
		}
		return a.step - b.step
	})
	most, n := 1, 0
	for _, e := range edges {
		n += e.step
		most = max(most, n)
	}
	n = 0
	columns := make([]int, timelineWidth/columnWidth+1) // the greatest number in each
	for i, e := range edges {
		n += e.step
		if n == 0 || i+1 == len(edges) || !edges[i+1].at.After(t.From) || e.at.After(t.To) {
			continue
		}
		for at := int(t.x(e.at) / columnWidth); at <= int(t.x(edges[i+1].at)/columnWidth); at++ {
			columns[at] = max(columns[at], n)
		}
	}
	from := 0
	for at, n := range columns {
		if at+1 < len(columns) && columns[at+1] == n {
			continue
		}
		if n > 0 {
			h := float64(rowHeight-4) * float64(n) / float64(most)
			c.box(float64(from*columnWidth), y+rowHeight-2-h, float64((at+1-from)*columnWidth), h, "planned", fmt.Sprintf("up to %d at once", n))
		}
		from = at + 1
	}
}

// overlaps are the times at which two runs of a task run.
func overlaps(runs []Run) (list []Run) {
	sorted := slices.SortedFunc(slices.Values(runs), func(a, b Run) int { return a.From.Compare(b.From) })
	var end time.Time
	for _, r := range sorted {
		if r.From.Before(end) && r.To.After(r.From) {
			to := r.To
			if end.Before(to) {
				to = end
			}
			list = append(list, Run{From: r.From, To: to})
		}
		if r.To.After(end) {
			end = r.To
		}
	}
	return list
}

func shorten(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	half := (n - 1) / 2
	return string(runes[:half]) + "…" + string(runes[len(runes)-(n-1-half):])
}
