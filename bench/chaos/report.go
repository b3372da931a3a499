//go:build linux

package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/audit"
	"github.com/nextrun/nextrun/bench/internal/must"
)

// report shows what the run has found, as docs/figures.md has it. It panics if a promise was not kept.
func (c *chaos) report(ctx context.Context, begin time.Time, took time.Duration, faults []fault) {
	shown := map[string]int{}
	for _, f := range c.found.List {
		if shown[f.Rule]++; shown[f.Rule] <= 10 {
			say("VIOLATION: %s: %s: %s", f.Rule, f.About, f.Detail)
		}
	}
	version := "SELECT 'SQLite ' || sqlite_version()"
	if c.database == "postgres" {
		version = "SELECT 'PostgreSQL ' || split_part(current_setting('server_version'), ' ', 1)"
	}
	must.Nil(c.base.handle().QueryRowContext(ctx, version).Scan(&version))
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("**%s**, %s: %s with %d instances and %d tasks, seed %d; %s/%s, %d cores, %s, load averages %s.\n",
		version, begin.UTC().Format("2006-01-02 15:04 UTC"), took.Round(time.Second), c.instances, c.tasks, c.seed,
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), strings.Join(strings.Fields(string(load))[:3], ", "))
	fmt.Printf("%d faults, **%d violations**.\n\n| what | how many |\n|---|---|\n", len(faults), len(c.found.List))
	c.found.Counts["edits, inserts and deletes of tasks by SQL"] = c.editor.done
	for _, what := range slices.Sorted(maps.Keys(c.found.Counts)) {
		fmt.Printf("| %s | %d |\n", what, c.found.Counts[what])
	}
	fmt.Print("\n| faults | times | on time again, median | most | latest job |\n|---|---|---|---|---|\n")
	slices.SortFunc(c.found.Begun, func(a, b audit.Begun) int { return a.Due.Compare(b.Due) })
	reportCosts(faults, c.found.Begun)
	if n := len(c.found.List); n > 0 {
		panic(fmt.Errorf("%d violations with seed %d", n, c.seed))
	}
}

// reportCosts writes a line for each group of faults: the time from its end to the next job of a tick that falls due after it and
// begins within a second, and how late a job of a tick was that fell due meanwhile. Several lanes of faults run beside each other, so
// a fault may be charged with what another one cost.
func reportCosts(faults []fault, jobs []audit.Begun) {
	onTime, latest := map[string][]time.Duration{}, map[string]time.Duration{}
	for _, f := range faults {
		if f.problem != "" {
			continue
		}
		group, _, _ := strings.Cut(f.kind, ":")
		var again time.Duration
		for _, j := range jobs {
			late := j.Begin.Sub(j.Due)
			switch {
			case j.Due.Before(f.begin):
			case j.Due.Before(f.end):
				latest[group] = max(latest[group], late)
			case late <= time.Second && again == 0:
				again = j.Begin.Sub(f.end)
			}
		}
		onTime[group] = append(onTime[group], again)
	}
	for _, group := range slices.Sorted(maps.Keys(onTime)) {
		list := slices.Sorted(slices.Values(onTime[group]))
		fmt.Printf("| %s | %d | %.1f s | %.1f s | %.1f s |\n", group, len(list),
			list[len(list)/2].Seconds(), list[len(list)-1].Seconds(), latest[group].Seconds())
	}
}
