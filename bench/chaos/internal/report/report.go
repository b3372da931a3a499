// Package report writes what the chaos found: as JSON, and as tables in Markdown.
package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/audit"
	"github.com/nextrun/nextrun/bench/internal/page"
)

// Report is what a call of the program found.
type Report struct {
	System string    `json:"system"`
	Runs   []*Result `json:"runs"`
}

// Result is a run on one database.
type Result struct {
	Kind      string           `json:"kind"`
	Database  string           `json:"database"`
	Load      string           `json:"load"` // load averages of the machine when the faults ended
	Begin     time.Time        `json:"begin"`
	Seconds   float64          `json:"seconds"` // in which faults happened
	Seed      uint64           `json:"seed"`
	Instances int              `json:"instances"`
	Tasks     int              `json:"tasks"` // at the beginning
	Starts    int              `json:"starts"`
	Refused   int              `json:"refused"` // processes that ended in the middle of trouble, before their start was complete
	Counts    audit.Counts     `json:"counts"`
	Findings  []audit.Finding  `json:"findings"`
	Unmade    []string         `json:"unmade"`
	Faults    []audit.Recovery `json:"faults"`
}

// New returns a report of this machine, without runs.
func New() *Report {
	return &Report{System: fmt.Sprintf("%s/%s, %d cores, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())}
}

// Read reads what Write has written.
func Read(file string) (*Report, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	return r, json.Unmarshal(text, r)
}

// Violations is how many promises were not kept.
func (r *Report) Violations() (n int) {
	for _, one := range r.Runs {
		n += len(one.Findings)
	}
	return n
}

// Write shows the report, and writes the files that are asked for: one of JSON, and the page of Markdown whose tables it replaces.
func (r *Report) Write(file, into string) (err error) {
	fmt.Print(r.markdown())
	if file != "" {
		err = page.WriteJSON(file, r)
	}
	if into != "" {
		for _, one := range r.Runs {
			var b strings.Builder
			one.markdown(&b, r.System)
			err = errors.Join(err, page.Replace(into, "chaos "+one.Kind, b.String()))
		}
	}
	return err
}

// Tell says in lines what a run found.
func (r *Result) Tell(say func(format string, args ...any)) {
	say("%s: %d faults, %d ticks, %d jobs, %d violations", r.Database, len(r.made()), r.Counts.Ticks, r.Counts.Jobs, len(r.Findings))
	shown := map[string]int{}
	for _, f := range r.Findings {
		if shown[f.Rule]++; shown[f.Rule] <= 10 {
			say("VIOLATION: %s: %s: %s", f.Rule, f.About, f.Detail)
		}
	}
}

func (r *Report) markdown() string {
	var b strings.Builder
	for _, one := range r.Runs {
		one.markdown(&b, r.System)
	}
	return b.String()
}

func (r *Result) markdown(b *strings.Builder, system string) {
	c := r.Counts
	fmt.Fprintf(b, "**%s**, %s: %s with %d instances and %d tasks, seed %d; %s, load averages %s.\n", r.Database, r.Begin.UTC().Format("2006-01-02 15:04 UTC"),
		time.Duration(r.Seconds*float64(time.Second)).Round(time.Second), r.Instances, r.Tasks, r.Seed, system, r.Load)
	fmt.Fprintf(b, "%d faults, **%d violations**.\n\n", len(r.made()), len(r.Findings))
	b.WriteString("| what | how many |\n|---|---|\n")
	row := func(what string, n any) { fmt.Fprintf(b, "| %s | %v |\n", what, n) }
	row("ticks that the timers had, each accounted for once", c.Ticks)
	for _, d := range slices.Sorted(maps.Keys(c.Decisions)) {
		row("of these "+d, c.Decisions[d])
	}
	row("jobs, letters of the foreign queue, and events", c.Jobs)
	row("runs that handlers saw", c.Runs)
	row("of these again, after a failure or the loss of the worker", c.RunsAgain)
	row("of these beside the next job of the task", c.Beside)
	row("edits, inserts and deletes of tasks by SQL", c.Edits)
	b.WriteString("\n| faults | times | on time again, median of the slowest kind | most | latest job |\n|---|---|---|---|---|\n")
	r.groups(b)
	for _, u := range r.Unmade {
		fmt.Fprintf(b, "\nNot made here: %s.\n", u)
	}
	b.WriteString("\n")
}

// made are the faults that could be made.
func (r *Result) made() (list []audit.Recovery) {
	for _, f := range r.Faults {
		if f.Error == "" {
			list = append(list, f)
		}
	}
	return list
}

// groups writes a row for each group of faults, which is what their kinds have before the colon.
func (r *Result) groups(b *strings.Builder) {
	times, onTime, latest := map[string]int{}, map[string]map[string][]float64{}, map[string]float64{}
	for _, f := range r.made() {
		group, _, _ := strings.Cut(f.Kind, ":")
		times[group]++
		latest[group] = max(latest[group], f.Latest)
		if onTime[group] == nil {
			onTime[group] = map[string][]float64{}
		}
		if !f.None {
			onTime[group][f.Kind] = append(onTime[group][f.Kind], f.OnTime)
		}
	}
	for _, group := range slices.Sorted(maps.Keys(times)) {
		slowest, longest := 0.0, 0.0
		for _, list := range onTime[group] {
			slowest, longest = max(slowest, median(list)), max(longest, slices.Max(list))
		}
		fmt.Fprintf(b, "| %s | %d | %s | %s | %s |\n", group, times[group], seconds(slowest), seconds(longest), seconds(latest[group]))
	}
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}

func seconds(s float64) string { return fmt.Sprintf("%.1f s", s) }
