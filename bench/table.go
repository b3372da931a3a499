package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// table is what was measured.
type table struct {
	head string
	rows []string
}

// newTable says of what the figures are.
func (b *bench) newTable(ctx context.Context) (t *table) {
	version, _, _ := strings.Cut(string(must.Get(exec.CommandContext(ctx, b.program, "version").Output())), "\n")
	river, dbos := "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			switch m.Path {
			case "github.com/riverqueue/river":
				river = m.Version
			case "github.com/dbos-inc/dbos-transact-golang":
				dbos = m.Version
			}
		}
	}
	b.withPostgres(ctx, func(db *database) {
		postgres := must.Get(db.Version(ctx))
		var settings string
		must.Nil(db.plain.QueryRowContext(ctx, `SELECT string_agg(name || ' ' || current_setting(name), ', ' ORDER BY name) FROM pg_settings WHERE name IN
			('fsync', 'synchronous_commit', 'full_page_writes', 'track_commit_timestamp', 'shared_buffers', 'max_wal_size')`).Scan(&settings))
		if !strings.Contains(settings, "track_commit_timestamp on") {
			panic(errors.New("the server has track_commit_timestamp off; run it by: make bench"))
		}
		load, _ := os.ReadFile("/proc/loadavg")
		t = &table{head: fmt.Sprintf("%s, %s; %s/%s, %d cores, load before the run %s; PostgreSQL %s: %s; SQLite: WAL, synchronous full; River %s, DBOS Transact %s.",
			time.Now().UTC().Format("2006-01-02 15:04 UTC"), version, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), strings.Join(strings.Fields(string(load))[:3], " "), postgres, settings, river, dbos)}
	})
	return t
}

// add adds the lines of a group.
func (t *table) add(g group, all map[string][]values) {
	for _, f := range g.figures {
		if line := f.line(all, g.sides[0].name); line != "" {
			t.rows = append(t.rows, line)
		}
	}
}

// line is a line of the table; empty: nothing was measured.
func (f figure) line(all map[string][]values, first string) string {
	ours := raw(all[cmp.Or(f.of, first)], f.value)
	if len(ours) == 0 {
		return ""
	}
	beside, ratio, judged := "", "", middle(ours)
	if theirs := raw(all[f.beside], f.value); len(theirs) > 0 {
		var ratios []float64
		for i := range min(len(ours), len(theirs)) {
			ratios = append(ratios, ours[i]/theirs[i])
		}
		beside, ratio = f.beside+" "+number(middle(theirs)), number(middle(ratios))
		if !f.aim.alone {
			judged = middle(ratios)
		}
	}
	return fmt.Sprintf("| %s, %s | %s (%s..%s) | %s | %s | %s |", f.what, f.unit, number(middle(ours)), number(slices.Min(ours)), number(slices.Max(ours)),
		beside, ratio, f.aim.verdict(judged))
}

// middle is the median; of an even number of values the mean of the two in the middle.
func middle(values []float64) float64 {
	sorted, n := slices.Sorted(slices.Values(values)), len(values)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// verdict is the aim, and whether a value reaches it.
func (a aim) verdict(value float64) string {
	switch {
	case a.limit == 0:
		return ""
	case a.least:
		return fmt.Sprintf("≥ %g%s", a.limit, missed(value < a.limit))
	}
	return fmt.Sprintf("≤ %g%s", a.limit, missed(value > a.limit))
}

func missed(is bool) string {
	if is {
		return ", missed"
	}
	return ""
}

// raw are the values of the rounds, in their order.
func raw(rounds []values, name string) (list []float64) {
	for _, v := range rounds {
		if value, ok := v[name]; ok {
			list = append(list, value)
		}
	}
	return list
}

// markdown is the table.
func (t *table) markdown() string {
	return t.head + "\nMedians, with the least and the most of the rounds; the ratio is the median of those of the rounds.\n\n" +
		"| figure | nextrun | beside | ratio | aim |\n|---|---|---|---|---|\n" + strings.Join(t.rows, "\n") + "\n"
}

// number is a number with three digits, or all before its point.
func number(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 0.1 || v == 0:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}
