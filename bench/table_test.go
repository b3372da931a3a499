package main

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The ratio is the median of those of the rounds, and is judged by the aim; a figure without anything beside it is judged itself.
func TestLines(t *testing.T) {
	all := map[string][]values{
		nextrun:   {{"late": 10, "rate": 100}, {"late": 20, "rate": 100}, {"late": 10, "rate": 100}},
		riverSide: {{"late": 20, "rate": 200}, {"late": 20, "rate": 200}, {"late": 40, "rate": 400}},
	}
	for want, f := range map[string]figure{
		"| all, ms | 10.0 (10.0..20.0) | River 20.0 | 0.50 | ≤ 0.7 |":                  {"all", "ms", "late", "", riverSide, atMost(0.7)},
		"| the others, ms | 20.0 (20.0..40.0) | nextrun 10.0 | 2.00 | ≤ 1.3, missed |": {"the others", "ms", "late", riverSide, nextrun, atMost(1.3)},
		"| jobs, a second | 100 (100..100) | River 200 | 0.50 | ≥ 0.75, missed |":      {"jobs", "a second", "rate", "", riverSide, atLeast(0.75)},
		"| first, ms | 10.0 (10.0..20.0) |  |  | ≤ 5, missed |":                        {"first", "ms", "late", "", "", below(5)},
		"| beside, but alone, ms | 10.0 (10.0..20.0) | River 20.0 | 0.50 | ≤ 10 |":     {"beside, but alone", "ms", "late", "", riverSide, below(10)},
		"": {"not taken", "ms", "memory", "", "", aim{}},
	} {
		if got := f.line(all, nextrun); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// What an interrupted round lacks is left out.
func TestInterruptedRound(t *testing.T) {
	line := figure{"all", "ms", "late", "", riverSide, aim{}}.line(map[string][]values{nextrun: {{"late": 10}}, riverSide: {{"late": 20}, {"late": 30}}}, nextrun)
	if !strings.Contains(line, "| 0.50 |") {
		t.Error(line)
	}
}

// Every group measures what its figures are about: their sides exist, and the first one is nextrun's.
func TestGroups(t *testing.T) {
	for _, g := range (&bench{}).groups() {
		names := map[string]bool{"": true}
		for _, s := range g.sides {
			names[s.name] = true
		}
		if g.sides[0].name != nextrun || g.rounds == 0 {
			t.Errorf("%s: begins with %s, %d rounds", g.name, g.sides[0].name, g.rounds)
		}
		for _, f := range g.figures {
			if !names[f.of] || !names[f.beside] {
				t.Errorf("%s: %s is of %q beside %q", g.name, f.what, f.of, f.beside)
			}
		}
	}
}

// The page about sizing computes from the page of figures what a million tasks need.
func TestMillionTasks(t *testing.T) {
	figures, scaling := page(t, "figures"), page(t, "scaling")
	measured := func(what string) float64 {
		found := regexp.MustCompile(`(?m)^\| ` + what + `, \S+ \| (\S+)`).FindStringSubmatch(figures)
		if found == nil {
			t.Fatalf("docs/figures.md lacks %q", what)
		}
		value, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	const day, gb, rows, million = 86_400, 1e9, 530, 1e6 // rows: bytes of a tick and its job
	for name, runs := range map[string]float64{"once a day": million, "once an hour": 24 * million, "once a minute": 1440 * million} {
		want := "| " + strings.Join([]string{
			name, number(runs / day), number(measured("processor time of the server for a tick") * runs / day / 1e6 * 100),
			number(measured("processor time of the scheduler for a tick") * runs / day / 1e6 * 100),
			number(measured("WAL for a tick") * runs / gb), number(rows * runs / gb),
		}, " | ") + " |"
		if !strings.Contains(scaling, want) {
			t.Errorf("docs/scaling.md lacks %s", want)
		}
	}
}

// page is one of the documentation.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/" + name + ".md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
