package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// twoFigures is a group of which less and more is better.
func twoFigures() group {
	return group{name: "burst-1000-postgresql", figures: []figure{{"late", "ms", false}, {"rate", "jobs/s", true}}, contenders: []contender{{name: ours}, {name: "River"}}}
}

// A ratio above 1 says that nextrun is better, whichever way the figure counts; it is the median of the ratios of the rounds.
func TestRatio(t *testing.T) {
	r := &report{}
	r.add(twoFigures(), map[string][]values{
		ours:    {{"late": 10, "rate": 100}, {"late": 20, "rate": 100}, {"late": 10, "rate": 100}},
		"River": {{"late": 20, "rate": 200}, {"late": 20, "rate": 200}, {"late": 40, "rate": 400}},
	}, 3, 0)
	want := map[string]float64{"late nextrun": 0, "late River": 2, "rate nextrun": 0, "rate River": 0.5}
	for _, row := range r.Rows {
		if row.Ratio != want[row.Figure+" "+row.Contender] {
			t.Errorf("%s of %s has the ratio %g, want %g", row.Figure, row.Contender, row.Ratio, want[row.Figure+" "+row.Contender])
		}
	}
	if len(r.Rows) != 4 || r.Rows[1].Spread.Median != 20 || r.Rows[1].Spread.Most != 40 {
		t.Errorf("rows: %+v", r.Rows)
	}
}

// A figure that a system cannot take is left out, and so is what an interrupted round lacks.
func TestMissingFigures(t *testing.T) {
	r := &report{}
	r.add(twoFigures(), map[string][]values{ours: {{"late": 10}}, "River": {{"late": 20}, {"late": 30}}}, 2, 0)
	if len(r.Rows) != 2 || r.Rows[1].Ratio != 2 {
		t.Errorf("rows: %+v", r.Rows)
	}
}

// The page has a line for each figure: nextrun, and what was measured beside it.
func TestMarkdown(t *testing.T) {
	r := &report{}
	r.add(twoFigures(), map[string][]values{ours: {{"late": 10, "rate": 100}}, "River": {{"late": 20}}}, 1, 0)
	for _, want := range []string{
		"| burst-1000-postgresql | late, ms | 10.0 (10.0..10.0) | River 20.0 |\n",
		"| burst-1000-postgresql | rate, jobs/s | 100 (100..100) |  |\n",
	} {
		if got := r.markdown(); strings.Count(got, want) != 1 || strings.Count(got, "| burst-1000-postgresql |") != 2 {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
}

// A table is made part by part: a group that is measured again takes the place of the earlier one.
func TestUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bench.json")
	other := twoFigures()
	other.name = "plan-postgresql"
	old := &report{CPUs: 2, Postgres: "15.1"}
	for _, g := range []group{other, twoFigures()} {
		old.add(g, map[string][]values{ours: {{"late": 1}}}, 1, 0)
	}
	if err := old.write(&strings.Builder{}, path, "", ""); err != nil {
		t.Fatal(err)
	}
	known := (&bench{}).groups()
	r := &report{CPUs: 2, Postgres: "15.1"}
	if err := r.keep(path, known, []group{twoFigures()}); err != nil {
		t.Fatal(err)
	}
	r.add(twoFigures(), map[string][]values{ours: {{"late": 2}}}, 1, 0)
	r.sort(known)
	if len(r.Rows) != 2 || r.Rows[0].Group != twoFigures().name || r.Rows[0].Spread.Median != 2 || r.Rows[1].Group != other.name {
		t.Errorf("rows: %+v", r.Rows)
	}
	if err := (&report{CPUs: 4, Postgres: "15.1"}).keep(path, known, nil); err == nil || !strings.Contains(err.Error(), "another machine") {
		t.Errorf("figures of another machine: %v", err)
	}
}

// The page gets both tables at its marks, and keeps the rest.
func TestInto(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	text := "head\n<!-- bench: begin -->\nold\n<!-- bench: end -->\nmiddle\n<!-- needs: begin -->\nold\n<!-- needs: end -->\ntail\n"
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &report{}
	steady := group{name: "steady-postgresql", figures: (&bench{}).steady().figures, contenders: []contender{{name: ours}}}
	r.add(steady, map[string][]values{ours: {{ticksSecond: 1000, cpuTick: 50, cpuServer: 200, databaseTime: 20, walTick: 1000}}}, 1, 0)
	if err := r.write(&strings.Builder{}, "", "", page); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	// 1,000 tasks a minute: 16.7 ticks a second of 50 µs, 200 µs and 1,000 bytes, and 43.2 million rows of 570 bytes.
	for _, want := range []string{"head\n", "| steady-postgresql |", "middle\n", "| 1,000 | minute | 16.7 | 0.083 % | 0.33 % | 1.44 GB | 24.6 GB |", "= 5000 ticks a second", "tail\n"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("the page lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(string(got), "old") {
		t.Errorf("the page keeps what was between the marks:\n%s", got)
	}
}

// The periods of the steady state are between a second and an hour, 1,200 ticks a second in all.
func TestPeriods(t *testing.T) {
	rate := 0.0
	for i := range steadyTasks {
		p := period(i).Seconds()
		if p < 1 || p > 3600 {
			t.Fatalf("task %d has a period of %g s", i, p)
		}
		rate += 1 / p
	}
	if rate < 1000 || rate > 2000 {
		t.Errorf("%.0f ticks a second", rate)
	}
}
