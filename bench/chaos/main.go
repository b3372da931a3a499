//go:build linux

// Command chaos runs several nextrun processes on one database, lets faults happen to them, to the database and to the network
// between them, and then accounts for every tick with its own arithmetic. It needs Linux; run it by: make chaos.
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
)

// settings are what the command line says.
type settings struct {
	duration  time.Duration
	seed      uint64
	databases []database.Dialect
	instances int
	tasks     int
	only      *regexp.Regexp // nil: the faults that need not be asked for
	into      string
	keep      string
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func run() (failed error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	s, err := parse()
	if err != nil {
		return err
	}
	for _, d := range s.databases {
		r, err := s.torment(ctx, d)
		if err == nil {
			err = r.write(s.into)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", d.Name, err))
		}
	}
	return failed
}

func parse() (s settings, err error) {
	flag.DurationVar(&s.duration, "duration", 2*time.Minute, "how long faults happen, on each database")
	flag.Uint64Var(&s.seed, "seed", uint64(time.Now().Unix()), "`number` from which the faults follow")
	chosen := flag.String("database", "both", "postgres, sqlite or both, one after the other")
	flag.IntVar(&s.instances, "instances", 8, "processes of nextrun, 2 or more")
	flag.IntVar(&s.tasks, "tasks", 2000, "periodic tasks")
	only := flag.String("faults", "", "let only faults happen whose kinds match this regular `expression`; empty: all but those of logs and of silent networks")
	flag.StringVar(&s.into, "into", "", "`file` of Markdown that gets the tables between its lines <!-- chaos sqlite: begin --> and <!-- chaos sqlite: end -->, or postgres")
	flag.StringVar(&s.keep, "keep", "", "`directory` for the files of the run, such as logs; empty: they are removed")
	flag.Parse()
	for _, d := range []database.Dialect{database.Postgres, database.SQLite} {
		if *chosen == d.Name || *chosen == "both" {
			s.databases = append(s.databases, d)
		}
	}
	if *only != "" {
		if s.only, err = regexp.Compile(*only); err != nil {
			return s, err
		}
	}
	switch {
	case flag.NArg() > 0:
		return s, fmt.Errorf("unknown argument %q", flag.Arg(0))
	case s.instances < 2 || s.tasks < 20 || s.duration < 10*time.Second:
		return s, errors.New("it takes 2 instances, 20 tasks and 10 seconds at least")
	case s.databases == nil:
		return s, fmt.Errorf("-database is %q: use postgres, sqlite or both", *chosen)
	}
	return s, nil
}

// torment makes a run on a database, in a directory of its own.
func (s settings) torment(ctx context.Context, d database.Dialect) (r *report, err error) {
	dir, err := filepath.Abs(filepath.Join(s.keep, fmt.Sprintf("%s-%d-%d", d.Name, s.seed, time.Now().Unix())))
	if s.keep == "" {
		dir, err = os.MkdirTemp("", "nextrun-chaos-")
		defer func() { _ = os.RemoveAll(dir) }()
	}
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // the server may run as another user, who has to pass
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // as before
		return nil, err
	}
	c := &chaos{settings: s, dialect: d, dir: dir}
	defer func() { err = errors.Join(err, c.close()) }()
	return c.run(ctx)
}

func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().UTC().Format("15:04:05 ")+format+"\n", args...)
}
