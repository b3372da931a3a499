//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/database"
	"github.com/nextrun/nextrun/bench/chaos/internal/process"
	"github.com/nextrun/nextrun/bench/chaos/internal/report"
)

// settings are what the command line says.
type settings struct {
	duration  time.Duration
	seed      uint64
	database  string
	instances int
	tasks     int
	source    string
	program   string
	only      *regexp.Regexp
	json      string
	from      string
	into      string
	keep      string
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	s, err := parse()
	if err != nil {
		return err
	}
	if s.from != "" {
		r, err := report.Read(s.from)
		if err != nil {
			return err
		}
		return r.Write(s.json, s.into)
	}
	dir, err := os.MkdirTemp("", "nextrun-chaos-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the server may run as another user, who has to pass
		return err
	}
	r := report.New()
	var failed error
	for _, d := range s.databases() {
		program := s.program
		if program == "" {
			say("building nextrun for %s", d.Name)
			if program, err = process.Build(ctx, s.source, dir, d); err != nil {
				return err
			}
		}
		result, err := newChaos(s, d, program, filepath.Join(dir, d.Name)).run(ctx)
		if result != nil {
			r.Runs = append(r.Runs, result)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", d.Name, err))
		}
	}
	if err := errors.Join(failed, r.Write(s.json, s.into)); err != nil {
		return err
	}
	if n := r.Violations(); n > 0 {
		return fmt.Errorf("%d violations with seed %d", n, s.seed)
	}
	return nil
}

func parse() (settings, error) {
	var s settings
	flag.DurationVar(&s.duration, "duration", 2*time.Minute, "how long faults happen, on each database")
	flag.Uint64Var(&s.seed, "seed", uint64(time.Now().Unix()), "`number` from which the faults follow")
	flag.StringVar(&s.database, "database", "both", "postgres, sqlite or both, one after the other")
	flag.IntVar(&s.instances, "instances", 8, "processes of nextrun, 2 or more")
	flag.IntVar(&s.tasks, "tasks", 2000, "periodic tasks")
	flag.StringVar(&s.source, "source", "..", "`directory` of nextrun's module")
	flag.StringVar(&s.program, "nextrun", "", "`program` under test; empty: build it, for PostgreSQL with a clock that can jump")
	only := flag.String("faults", ".", "let only faults happen whose kinds match this regular `expression`")
	flag.StringVar(&s.json, "json", "", "`file` for the figures")
	flag.StringVar(&s.from, "from", "", "`file` with the figures of an earlier run: write its tables, and let nothing happen")
	flag.StringVar(&s.into, "into", "", "`file` of Markdown that gets the tables between its lines <!-- chaos sqlite: begin --> and <!-- chaos sqlite: end -->, or postgres")
	flag.StringVar(&s.keep, "keep", "", "`directory` for the logs of the processes")
	flag.Parse()
	var err error
	if s.only, err = regexp.Compile(*only); err != nil {
		return s, err
	}
	if s.source, err = filepath.Abs(s.source); err != nil {
		return s, err
	}
	switch {
	case flag.NArg() > 0:
		return s, fmt.Errorf("unknown argument %q", flag.Arg(0))
	case s.instances < 2 || s.tasks < 20 || s.duration < 10*time.Second:
		return s, errors.New("it takes 2 instances, 20 tasks and 10 seconds at least")
	case s.databases() == nil:
		return s, fmt.Errorf("-database is %q: use postgres, sqlite or both", s.database)
	}
	return s, nil
}

func (s settings) databases() (chosen []database.Dialect) {
	for _, d := range []database.Dialect{database.Postgres, database.SQLite} {
		if s.database == d.Name || s.database == "both" {
			chosen = append(chosen, d)
		}
	}
	return chosen
}

func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().UTC().Format("15:04:05 ")+format+"\n", args...)
}
