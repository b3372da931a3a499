//go:build linux

package main

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/audit"
	"github.com/nextrun/nextrun/bench/internal/page"
)

// report is what a run on one database found.
type report struct {
	settings
	kind, version string
	load          string // load averages of the machine when the faults ended
	begin         time.Time
	took          time.Duration // in which faults happened
	edits         int64
	findings      *audit.Findings
	faults        []audit.Recovery
}

// write shows the report, puts its tables into a page if one is named, and returns an error if a promise was not kept.
func (r *report) write(into string) error {
	shown := map[string]int{}
	for _, f := range r.findings.List {
		if shown[f.Rule]++; shown[f.Rule] <= 10 {
			say("VIOLATION: %s: %s: %s", f.Rule, f.About, f.Detail)
		}
	}
	text := r.markdown()
	fmt.Print(text)
	if into != "" {
		if err := page.Replace(into, "chaos "+r.kind, text); err != nil {
			return err
		}
	}
	if n := len(r.findings.List); n > 0 {
		return fmt.Errorf("%d violations with seed %d", n, r.seed)
	}
	return nil
}

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**, %s: %s with %d instances and %d tasks, seed %d; %s/%s, %d cores, %s, load averages %s.\n",
		r.version, r.begin.UTC().Format("2006-01-02 15:04 UTC"), r.took.Round(time.Second), r.instances, r.tasks, r.seed,
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), r.load)
	fmt.Fprintf(&b, "%d faults, **%d violations**.\n\n| what | how many |\n|---|---|\n", len(r.faults), len(r.findings.List))
	row := func(what string, n any) { fmt.Fprintf(&b, "| %s | %v |\n", what, n) }
	c := r.findings.Counts
	row("ticks that the timers had, each accounted for once", c.Ticks)
	for _, d := range slices.Sorted(maps.Keys(c.Decisions)) {
		row("of these "+d, c.Decisions[d])
	}
	row("jobs, letters of the foreign queue, and events", c.Jobs)
	row("runs that handlers saw", c.Runs)
	row("of these again, after a failure or the loss of the worker", c.RunsAgain)
	row("of these beside the next job of the task", c.Beside)
	row("edits, inserts and deletes of tasks by SQL", r.edits)
	b.WriteString("\n| faults | times | on time again, median | most | latest job |\n|---|---|---|---|---|\n")
	r.groups(&b)
	b.WriteString("\n")
	return b.String()
}

// groups writes a row for each group of faults, which is what their kinds have before the colon.
func (r *report) groups(b *strings.Builder) {
	groups := map[string][]audit.Recovery{}
	for _, f := range r.faults {
		group, _, _ := strings.Cut(f.Kind, ":")
		groups[group] = append(groups[group], f)
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		list := groups[name]
		slices.SortFunc(list, func(a, b audit.Recovery) int { return int(a.OnTime - b.OnTime) })
		latest := slices.MaxFunc(list, func(a, b audit.Recovery) int { return int(a.Latest - b.Latest) })
		fmt.Fprintf(b, "| %s | %d | %.1f s | %.1f s | %.1f s |\n", name, len(list),
			list[len(list)/2].OnTime.Seconds(), list[len(list)-1].OnTime.Seconds(), latest.Latest.Seconds())
	}
}
