package chart

import (
	"fmt"
	"time"
)

// Point is a run in a plot.
type Point struct {
	At    time.Time
	Value time.Duration
	Class string
	Title string
}

// Plot draws durations over time as bars, the oldest first. span writes a duration.
func Plot(name string, points []Point, span func(time.Duration) string) string {
	const width, height, left, top = 480, 130, 70, 8
	c := &canvas{}
	var most time.Duration
	for _, p := range points {
		most = max(most, p.Value)
	}
	for i := range 3 {
		y := float64(top + (height-top-20)*i/2)
		c.line(left, y, width, y, "grid")
		c.label(left-6, y+4, "end", span(most*time.Duration(2-i)/2))
	}
	step := float64(width-left) / float64(max(len(points), 1))
	for i, p := range points {
		h := 1.0
		if most > 0 {
			h = max(float64(height-top-20)*float64(p.Value)/float64(most), 1)
		}
		c.box(left+float64(i)*step, float64(height-20)-h, max(step-1, 1), h, p.Class, p.Title)
	}
	if n := len(points); n > 0 {
		c.label(left, height-5, "start", points[0].At.Format("2006-01-02 15:04"))
		c.label(width, height-5, "end", points[n-1].At.Format("2006-01-02 15:04"))
	}
	return c.drawing(width, height, fmt.Sprintf("%s of %d runs", name, len(points)))
}
