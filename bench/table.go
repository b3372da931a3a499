package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/bench/internal/measure"
	"github.com/nextrun/nextrun/bench/internal/page"
)

// table is what was measured.
type table struct {
	head string
	rows []string
}

// newTable says of what the figures are.
func (b *bench) newTable(ctx context.Context) (*table, error) {
	version, err := outputOf(ctx, b.program, "version")
	if err != nil {
		return nil, err
	}
	river := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/riverqueue/river" {
				river = m.Version
			}
		}
	}
	t := &table{}
	return t, b.withPostgres(ctx, func(_ string, db *measure.DB) error {
		postgres, err := db.Version(ctx)
		if err != nil {
			return err
		}
		settings, err := db.Plain.Settings(ctx)
		if err == nil && !slices.Contains(settings, "track_commit_timestamp on") {
			err = fmt.Errorf("the server has track_commit_timestamp off; run it by: make bench")
		}
		version, _, _ = strings.Cut(version, "\n")
		t.head = fmt.Sprintf("%s, %s; %s/%s, %d cores, load before the run %s; PostgreSQL %s: %s; SQLite: WAL, synchronous full; River %s.",
			time.Now().UTC().Format("2006-01-02 15:04 UTC"), version, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), cmp.Or(page.Load(), "not known"),
			postgres, strings.Join(settings, ", "), river)
		return err
	})
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
	own := measure.SpreadOf(ours)
	beside, ratio, judged := "", "", own.Median
	if theirs := raw(all[f.beside], f.value); len(theirs) > 0 {
		var ratios []float64
		for i := range min(len(ours), len(theirs)) {
			ratios = append(ratios, ours[i]/theirs[i])
		}
		middle := measure.SpreadOf(ratios).Median
		beside, ratio = f.beside+" "+number(measure.SpreadOf(theirs).Median), number(middle)
		if !f.aim.alone {
			judged = middle
		}
	}
	return fmt.Sprintf("| %s, %s | %s (%s..%s) | %s | %s | %s |", f.what, f.unit, number(own.Median), number(own.Least), number(own.Most),
		beside, ratio, f.aim.verdict(judged))
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
	return wrapped(t.head+" Medians, with the least and the most of the rounds; the ratio is the median of those of the rounds.") + "\n\n" +
		"| figure | nextrun | beside | ratio | aim |\n|---|---|---|---|---|\n" + strings.Join(t.rows, "\n") + "\n"
}

// wrapped is a text in lines, as pages have them.
func wrapped(text string) string {
	var b strings.Builder
	length := 0
	for i, word := range strings.Fields(text) {
		if length += len(word) + 1; length > 120 {
			b.WriteByte('\n')
			length = len(word)
		} else if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
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
