package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nextrun/nextrun/bench/internal/measure"
	"github.com/nextrun/nextrun/bench/internal/page"
)

// report is all that was measured.
type report struct {
	Begun    time.Time         `json:"begun"`
	Nextrun  string            `json:"nextrun"` // version
	Go       string            `json:"go"`
	System   string            `json:"system"`
	CPUs     int               `json:"cpus"`
	Load     string            `json:"load"` // averages of the system before the run, of 1, 5 and 15 minutes; empty: not known
	Postgres string            `json:"postgresql"`
	Settings map[string]string `json:"settings"` // of PostgreSQL
	Peers    map[string]string `json:"peers"`    // versions of modules
	Rows     []row             `json:"rows"`
}

// row is a figure of one contender.
type row struct {
	Group     string         `json:"group"`
	Database  string         `json:"database"`
	Figure    string         `json:"figure"`
	Unit      string         `json:"unit"`
	Contender string         `json:"contender"`
	Rounds    int            `json:"rounds"`
	Spread    measure.Spread `json:"spread"`
	Raw       []float64      `json:"raw"`
	// Ratio is how many times as good as this contender nextrun is: the median of the rounds. 0: there is none.
	Ratio   float64 `json:"ratio"`
	Seconds float64 `json:"group_seconds"`
}

func (b *bench) report(ctx context.Context) (*report, error) {
	version, err := outputOf(ctx, b.program, "version")
	if err != nil {
		return nil, err
	}
	r := &report{
		Begun: time.Now().UTC().Truncate(time.Second), Nextrun: firstLine(version), Go: runtime.Version(),
		System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Load: page.Load(), Settings: map[string]string{}, Peers: map[string]string{},
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/riverqueue/river" || m.Path == "github.com/robfig/cron/v3" {
				r.Peers[m.Path] = m.Version
			}
		}
	}
	return r, b.withPostgres(ctx, func(_ string, db *measure.DB) error {
		if r.Postgres, err = db.Version(ctx); err != nil {
			return err
		}
		settings, err := db.Plain.Settings(ctx)
		for _, s := range settings {
			r.Settings[s.Name] = s.Value
		}
		if r.Settings["track_commit_timestamp"] != "on" {
			return fmt.Errorf("the server has track_commit_timestamp off; run it by: make bench")
		}
		return err
	})
}

// add adds the rows of a group.
func (r *report) add(g group, all map[string][]values, rounds int, took time.Duration) {
	for _, f := range g.figures {
		for _, c := range g.contenders {
			raw, ratios := []float64{}, []float64{}
			for i, v := range all[c.name] {
				value, ok := v[f.name]
				if !ok {
					continue
				}
				raw = append(raw, value)
				if c.name == ours || i >= len(all[ours]) {
					continue
				}
				if our, ok := all[ours][i][f.name]; ok && our > 0 && value > 0 {
					if f.more {
						ratios = append(ratios, our/value)
					} else {
						ratios = append(ratios, value/our)
					}
				}
			}
			if len(raw) == 0 {
				continue
			}
			r.Rows = append(r.Rows, row{
				Group: g.name, Database: g.database, Figure: f.name, Unit: f.unit, Contender: c.name, Rounds: rounds,
				Spread: measure.SpreadOf(slices.Clone(raw)), Raw: raw, Ratio: measure.SpreadOf(ratios).Median, Seconds: took.Seconds(),
			})
		}
	}
}

func (r *report) write(w io.Writer, jsonFile, markdown, into string) error {
	fmt.Fprintln(w, r.head())
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tabs, "GROUP\tFIGURE\tUNIT\tOF\tMEDIAN\tLEAST..MOST\tRATIO")
	for _, row := range r.Rows {
		fmt.Fprintln(tabs, strings.Join(row.cells(), "\t"))
	}
	if err := tabs.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, ratioMeans)
	if jsonFile != "" {
		if err := page.WriteJSON(jsonFile, r); err != nil {
			return err
		}
	}
	if markdown != "" {
		if err := os.WriteFile(markdown, []byte(r.markdown()+"\n"+r.needs()), 0o644); err != nil { //nolint:gosec // figures are for everybody
			return err
		}
	}
	if into == "" {
		return nil
	}
	if err := page.Replace(into, "bench", r.markdown()+"\n"); err != nil {
		return err
	}
	if needs := r.needs(); needs != "" {
		return page.Replace(into, "needs", needs+"\n")
	}
	return nil
}

const ratioMeans = "RATIO: above 1, nextrun is so many times as good as the other; below 1, it reaches that share of it. The median of the rounds."

// head says of what the figures are.
func (r *report) head() string {
	var settings []string
	for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes", "track_commit_timestamp", "shared_buffers", "max_wal_size"} {
		settings = append(settings, name+" "+r.Settings[name])
	}
	return fmt.Sprintf("%s, %s; %s, %d cores, load before the run %s; %s; PostgreSQL %s: %s; SQLite: WAL, synchronous full; River %s.",
		r.Begun.Format("2006-01-02 15:04 UTC"), r.Nextrun, r.System, r.CPUs, cmp.Or(r.Load, "not known"), r.Go, r.Postgres, strings.Join(settings, ", "),
		r.Peers["github.com/riverqueue/river"])
}

func (r row) cells() []string {
	ratio := ""
	if r.Ratio > 0 {
		ratio = number(r.Ratio)
	}
	return []string{r.Group, r.Figure, r.Unit, r.Contender, number(r.Spread.Median), number(r.Spread.Least) + ".." + number(r.Spread.Most), ratio}
}

// notOnThePage are figures that say something to those who measure, and little to readers of the page.
var notOnThePage = []string{peakMemory, deadTick}

// markdown is a table with a line for each figure: nextrun, and the others beside it.
func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s Medians; for nextrun with the least and the most of the rounds.\n\n", r.head())
	b.WriteString("| group | figure | nextrun | others |\n|---|---|---|---|\n")
	for rows := r.Rows; len(rows) > 0; {
		first := rows[0]
		own, others := "", []string{}
		for len(rows) > 0 && rows[0].Group == first.Group && rows[0].Figure == first.Figure {
			if c := rows[0].cells(); rows[0].Contender == ours {
				own = fmt.Sprintf("%s (%s)", c[4], c[5])
			} else {
				others = append(others, c[3]+" "+c[4])
			}
			rows = rows[1:]
		}
		if !slices.Contains(notOnThePage, first.Figure) {
			fmt.Fprintf(&b, "| %s | %s, %s | %s | %s |\n", first.Group, first.Figure, first.Unit, own, strings.Join(others, ", "))
		}
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

func firstLine(text string) string { line, _, _ := strings.Cut(text, "\n"); return line }
