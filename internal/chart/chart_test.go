package chart_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/chart"
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

var zone = func() *time.Location {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return zone
}()

func at(hour, minute int) time.Time { return time.Date(2026, 3, 29, hour, minute, 0, 0, time.UTC) }

func TestTimeline(t *testing.T) {
	t.Parallel()
	evil := `"><script>` + "\xff\x07"
	drawing := chart.Timeline{From: at(0, 0), To: at(12, 0), Now: at(6, 0), Zone: zone, Rows: []chart.Row{
		{Name: evil, Runs: []chart.Run{
			{From: at(1, 0), To: at(3, 0), Class: evil, Title: "one " + evil, Link: evil},
			{From: at(2, 0), To: at(4, 0), Class: "failed", Title: "two"},
		}},
		{Name: "other", Runs: []chart.Run{
			{From: at(2, 30), To: at(2, 45), Title: "three"},
			{From: at(5, 0), To: at(5, 0), Title: "unknown length"},
			{From: at(0, 0).Add(-2 * time.Hour), To: at(0, 0).Add(-time.Hour), Title: "before"},
			{From: at(13, 0), To: at(14, 0), Title: "after"},
		}},
	}}.Draw()
	list := titles(t, drawing)
	for want, times := range map[string]int{
		"one ": 1, "two": 2 /* also: two runs at once */, "three": 1, "unknown length": 1, "before": 0, "after": 0,
		"two runs at once": 1, "3 at once": 1, "the clock changes by 1h0m0s": 1,
	} {
		has(t, list, want, times)
	}
	if strings.Contains(drawing, "<script") {
		t.Error("a text is not escaped")
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

func TestYear(t *testing.T) {
	t.Parallel()
	drawing := chart.Year(time.Date(2026, 1, 1, 12, 0, 0, 0, zone), func(day time.Time) chart.Day {
		if day.Format(time.DateOnly) == "2026-03-29" {
			return chart.Day{Count: 2, Class: "failed", Title: "it failed"}
		}
		return chart.Day{Title: "no tick"}
	})
	list := titles(t, drawing)
	if len(list) != 53*7 {
		t.Errorf("%d days", len(list))
	}
	has(t, list, "Sun 2026-03-29: it failed", 1)
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
	far := chart.Bars{Floor: 1, Bars: []chart.Bar{{Value: 3600, Class: "bad"}}}
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
	if alone := chart.File(chart.Timeline{From: at(0, 0), To: at(1, 0), Zone: zone}.Draw()); !strings.Contains(alone, "<style>") {
		t.Error("a file has no colours")
	} else {
		titles(t, alone)
	}
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
