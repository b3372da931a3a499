// Command queue compares nextrun's executor with River and with plain SQL, on
// one PostgreSQL in one run, and measures it on SQLite. What counts are the
// ratios; the numbers depend on the machine.
//
//	NEXTRUN_TEST_POSTGRES=postgres://... go run . [-jobs N] [-rounds N]
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"
)

// pool is how many jobs run at once.
const pool = 50

// contender runs n jobs with an empty handler and tells how long it took from
// start to the last completion.
type contender struct {
	name string
	run  func(ctx context.Context, url string, n int) (time.Duration, error)
}

func main() {
	jobs := flag.Int("jobs", 10_000, "jobs of each measurement")
	rounds := flag.Int("rounds", 3, "measurements of each contender; the median counts")
	flag.Parse()
	if err := run(context.Background(), os.Getenv("NEXTRUN_TEST_POSTGRES"), *jobs, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench/queue:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, server string, jobs, rounds int) error {
	if server == "" {
		return fmt.Errorf("NEXTRUN_TEST_POSTGRES is not set; run it by scripts/with-postgres")
	}
	contenders := []contender{
		{"plain SQL", runPlain}, {"nextrun", runNextrun}, {"River, default settings", runRiver(0)},
		{"River, fetch cooldown 1ms", runRiver(time.Millisecond)},
	}
	rates := map[string][]float64{}
	for range rounds { // in turns, so that a busy machine hits all alike
		for _, c := range contenders {
			took, err := onFreshDatabase(ctx, server, func(url string) (time.Duration, error) { return c.run(ctx, url, jobs) })
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			rates[c.name] = append(rates[c.name], float64(jobs)/took.Seconds())
		}
	}
	fmt.Printf("PostgreSQL, %d jobs, pool of %d, median of %d:\n", jobs, pool, rounds)
	ours := median(rates["nextrun"])
	for _, c := range contenders {
		rate := median(rates[c.name])
		fmt.Printf("  %-28s %8.0f jobs/s   nextrun is %5.2f times as fast\n", c.name, rate, ours/rate)
	}
	if err := reportLatency(ctx, server); err != nil {
		return err
	}
	return reportSQLite(ctx, jobs, rounds)
}

func median[T float64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// onFreshDatabase gives a measurement a database of its own.
func onFreshDatabase(ctx context.Context, server string, measure func(url string) (time.Duration, error)) (took time.Duration, err error) {
	admin, err := sql.Open("postgres", server)
	if err != nil {
		return 0, err
	}
	defer admin.Close() //nolint:errcheck // the program ends
	name := fmt.Sprintf("q_bench_%d", time.Now().UnixNano())
	if _, err := admin.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return 0, err
	}
	defer func() {
		if _, derr := admin.ExecContext(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err == nil {
			err = derr
		}
	}()
	url, err := withDatabase(server, name)
	if err != nil {
		return 0, err
	}
	return measure(url)
}
