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
	row("ticks set by hand (`UPDATE ... SET nextrun`), each accounted for", c.ByHand)
	row("jobs, letters of the foreign queue, and events", c.Jobs)
	row("runs that handlers saw", c.Runs)
	row("of these again, after a failure or the loss of the worker or its answer", c.RunsAgain)
	row("of these beside the next job of the task, since the worker was thought dead", c.Beside)
	row("events that arrived in order", c.Events)
	row("edits, inserts and deletes of tasks by SQL", c.Edits)
	row("ticks without a record, since an edit came before anybody could decide them", c.Dropped)
	row("ticks without a record, between an edit and the plan that followed it", c.Between)
	row("processes started; ended before their start was complete", fmt.Sprintf("%d; %d", r.Starts, r.Refused))
	b.WriteString("\n| fault | times | lasted | next job | on time again, median | most | latest job that fell due meanwhile |\n|---|---|---|---|---|---|---|\n")
	r.kinds(b)
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

// kinds writes a row for each kind of fault.
func (r *Result) kinds(b *strings.Builder) {
	byKind := map[string][]audit.Recovery{}
	for _, f := range r.made() {
		byKind[f.Kind] = append(byKind[f.Kind], f)
	}
	for _, name := range slices.Sorted(maps.Keys(byKind)) {
		var lasted, next, onTime, latest []float64
		for _, f := range byKind[name] {
			lasted, latest = append(lasted, f.End.Sub(f.Begin).Seconds()), append(latest, f.Latest)
			if !f.None {
				next, onTime = append(next, f.Next), append(onTime, f.OnTime)
			}
		}
		fmt.Fprintf(b, "| %s | %d | %s | %s | %s | %s | %s |\n", name, len(byKind[name]), seconds(median(lasted)), seconds(median(next)),
			seconds(median(onTime)), seconds(most(onTime)), seconds(most(latest)))
	}
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}

func most(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	return slices.Max(list)
}

func seconds(s float64) string { return fmt.Sprintf("%.1f s", s) }
