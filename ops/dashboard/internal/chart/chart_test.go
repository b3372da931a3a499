package chart_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard/internal/chart"
)

// A lane is as high as what runs at once. Neighbours of one height are one shape, and what failed
// is drawn over the rest.
func TestLane(t *testing.T) {
	t.Parallel()
	cells := make([]chart.Level, 10)
	cells[1], cells[2] = chart.Level{Value: 1, Class: "good"}, chart.Level{Value: 1, Class: "good"}
	cells[4] = chart.Level{Value: 2, Bad: 1, Class: "good", Out: "warn"}
	cells[9] = chart.Level{Value: 0.001, Class: "plan"}
	drawing := chart.Lane{Name: "<a>", Cells: cells, Top: 2, Now: 5}.Draw()
	for _, want := range []string{`class="good" d="M1 20v-12h2v12zM4 20v-20h1v20z"`, `class="bad" d="M4 20v-12h1v12z"`, `class="plan" d="M9 20v-4h1v4z"`, `class="warn" d="M4 5v-5h1v5z"`,
		`class="now" d="M5.0 0`, `aria-label="&lt;a&gt;"`} {
		if !strings.Contains(drawing, want) {
			t.Errorf("lacks %q: %s", want, drawing)
		}
	}
}

// An axis ends at a round number that is not far above what is drawn.
func TestAxis(t *testing.T) {
	t.Parallel()
	for value, want := range map[float64]string{0: "10ms", 0.3: "400ms", 1: "1s", 61: "2m0s", 86401: "48h0m0s", 1e6: "288h0m0s"} {
		if got := (chart.Bars{Bars: []chart.Bar{{Value: value}}}).Durations(time.Duration.String); got.Whole != want || got.Top < value {
			t.Errorf("the axis of %g s ends at %s, want %s", value, got.Whole, want)
		}
	}
	for value, want := range map[float64]string{0: "4", 5: "10", 11: "20", 40: "40", 41: "100", 62: "100", 5000: "10000"} {
		if got := (chart.Bars{Bars: []chart.Bar{{Value: value}}}).Counts().Whole; got != want {
			t.Errorf("the axis of %g ends at %s, want %s", value, got, want)
		}
	}
}
