package chart_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard/internal/chart"
)

// titles returns the titles of a drawing, after a look whether it is XML.
func titles(t *testing.T, drawing string) (list []string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(drawing))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("not XML: %v\n%s", err, drawing)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "title" {
			var text string
			if err := decoder.DecodeElement(&text, &start); err != nil {
				t.Fatal(err)
			}
			list = append(list, text)
		}
	}
}

func has(t *testing.T, list []string, want string, times int) {
	t.Helper()
	n := 0
	for _, text := range list {
		if strings.Contains(text, want) {
			n++
		}
	}
	if n != times {
		t.Errorf("%q is drawn %d times, want %d: %q", want, n, times, list)
	}
}

// A lane is as high as what runs at once. Neighbours of one height are one shape, and what failed
// is drawn over the rest.
func TestLane(t *testing.T) {
	t.Parallel()
	cells := make([]chart.Level, 10)
	cells[1], cells[2] = chart.Level{Value: 1, Class: "good"}, chart.Level{Value: 1, Class: "good"}
	cells[4] = chart.Level{Value: 2, Bad: 1, Class: "good"}
	cells[9] = chart.Level{Value: 0.001, Class: "plan"}
	drawing := chart.Lane{Name: "<a>", Cells: cells, Top: 2, Now: 5}.Draw()
	titles(t, drawing)
	cells[4].Out, cells[9].Out = "warn", "off"
	if low := (chart.Lane{Cells: cells, Top: 2, Floor: 12}).Draw(); !strings.Contains(low, `class="plan" d="M9 20v-12h1v12z"`) || !strings.Contains(low, `class="off" d="M9 5v-5h1v5z"`) || !strings.Contains(low, `class="warn" d="M4 5v-5h1v5z"`) {
		t.Errorf("what is short is too low to be seen, or what did not run has no mark: %s", low)
	}
	for _, want := range []string{`class="good" d="M1 20v-12h2v12zM4 20v-20h1v20z"`, `class="bad" d="M4 20v-12h1v12z"`, `class="plan" d="M9 20v-4h1v4z"`, `class="now" d="M5.0 0`, `aria-label="&lt;a&gt;"`} {
		if !strings.Contains(drawing, want) {
			t.Errorf("lacks %q: %s", want, drawing)
		}
	}
}

func TestBars(t *testing.T) {
	t.Parallel()
	evil := `"><script>`
	bars := chart.Bars{Name: "Durations" + evil, Usual: 1, From: "1 Jan", To: "now" + evil, Least: 10, Bars: []chart.Bar{{Value: 1, Class: "good", Title: "short"}, {Value: 4.5, Title: "long" + evil, Link: "/x?a=1&b=2"}}}
	drawing := bars.Durations(time.Duration.String).Draw()
	list := titles(t, drawing)
	has(t, list, "short", 1)
	has(t, list, "long", 1)
	for _, want := range []string{"<span>10s</span><span>5s</span><span>0</span>", `d="M91 100v-45.0h8v45.0z"`, `class="usual" d="M0 90.0h100"`} {
		if !strings.Contains(drawing, want) {
			t.Errorf("it lacks %s: %s", want, drawing)
		}
	}
	if strings.Contains(drawing, "<script") {
		t.Error("a text is not escaped")
	}
	for value, want := range map[float64]string{0: "10ms", 0.3: "400ms", 1: "1s", 61: "2m0s", 86401: "48h0m0s", 1e6: "288h0m0s"} {
		if got := (chart.Bars{Bars: []chart.Bar{{Value: value}}}).Durations(time.Duration.String); got.Whole != want || got.Top < value {
			t.Errorf("the axis of %g s ends at %s, want %s", value, got.Whole, want)
		}
	}
	far := chart.Bars{Bars: []chart.Bar{{Value: 3600, Class: "bad"}}}
	for range 20 {
		far.Bars = append(far.Bars, chart.Bar{Value: 0.3, Class: "good"})
	}
	if far = far.Durations(time.Duration.String); far.Whole != "1s" || strings.Count(far.Draw(), `class="cut"`) != 1 || strings.Count(far.Draw(), "M1 102h8v5h-8z") != 1 {
		t.Errorf("one of an hour among many short ones, to %s: %s", far.Whole, far.Draw())
	}
	for value, want := range map[float64]string{0: "4", 5: "10", 11: "20", 40: "40", 41: "100", 62: "100", 5000: "10000"} {
		if got := (chart.Bars{Bars: []chart.Bar{{Value: value}}}).Counts().Whole; got != want {
			t.Errorf("the axis of %g ends at %s, want %s", value, got, want)
		}
	}
	titles(t, chart.Bars{Name: "nothing"}.Draw())
}

func TestStrip(t *testing.T) {
	t.Parallel()
	evil := `"><script>`
	drawing := chart.Strip("a day"+evil, []chart.Cell{{}, {Class: "good", Title: "two" + evil, Link: "?a=1&b=2"}, {Class: "bad", Title: "three", Link: "/x", Loud: true}, {Class: evil}})
	list := titles(t, drawing)
	has(t, list, "two", 1)
	has(t, list, "three", 1)
	if strings.Contains(drawing, "<script") {
		t.Error("a text is not escaped")
	}
	if strings.Count(drawing, "<a ") != 2 || strings.Count(drawing, `tabindex="-1"`) != 1 || strings.Count(drawing, `class="none"`) != 2 {
		t.Errorf("the keyboard stops where nothing is wrong, or a cell without a class is drawn: %s", drawing)
	}
	if titles(t, chart.Strip("", nil)); !strings.Contains(chart.Strip("", nil), `aria-hidden="true"`) {
		t.Error("a strip without a name is not hidden from those who cannot see it")
	}
}
