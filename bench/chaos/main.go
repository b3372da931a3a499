//go:build linux

// Command chaos runs several nextrun processes on one database, lets faults happen to them, to the database and to the network
// between them, and then accounts for every tick with its own arithmetic. It needs Linux; run it by: make chaos.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// settings are what the command line says.
type settings struct {
	duration  time.Duration
	seed      uint64
	instances int
	tasks     int
	upgrade   bool
	only      *regexp.Regexp
	keep      string
}

func main() {
	s, databases := parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := 0
	for _, database := range databases {
		if err := must.Try(func() { s.torment(ctx, database) }); err != nil {
			fmt.Fprintf(os.Stderr, "chaos: %s: %v\n", database, err)
			code = 1
		}
	}
	stop()
	os.Exit(code)
}

// parse reads the command line, or ends the program with what is wrong in it.
func parse() (s settings, databases []string) {
	flag.DurationVar(&s.duration, "duration", 2*time.Minute, "how long faults happen, on each database")
	flag.Uint64Var(&s.seed, "seed", uint64(time.Now().Unix()), "`number` from which the faults follow")
	flag.IntVar(&s.instances, "instances", 8, "processes of nextrun, 2 or more")
	flag.IntVar(&s.tasks, "tasks", 2000, "periodic tasks, 20 or more")
	flag.BoolVar(&s.upgrade, "upgrade", false, "replace the program by one with a newer schema, one instance after the other")
	flag.StringVar(&s.keep, "keep", "", "`directory` for the files of the run, such as logs; empty: they are removed")
	only := flag.String("faults", "^(clock|file|network|process|server)", "let faults happen whose kinds match this regular `expression`; there is silent, too")
	chosen := flag.String("database", "both", "postgres, sqlite or both, one after the other")
	flag.Parse()
	expression, err := regexp.Compile(*only)
	databases, known := map[string][]string{"postgres": {"postgres"}, "sqlite": {"sqlite"}, "both": {"postgres", "sqlite"}}[*chosen]
	if err != nil || !known || flag.NArg() > 0 || s.instances < 2 || s.tasks < 20 {
		fmt.Fprintln(os.Stderr, "chaos: it takes a database or both, an expression, 2 instances and 20 tasks at least, and no arguments; see -help")
		os.Exit(2)
	}
	s.only = expression
	return s, databases
}

// torment makes a run on a database, in a directory of its own.
func (s settings) torment(ctx context.Context, database string) {
	if s.keep != "" {
		must.Nil(os.MkdirAll(s.keep, 0o755)) //nolint:gosec // the server may run as another user, who has to pass
	}
	dir := must.Get(filepath.Abs(must.Get(os.MkdirTemp(s.keep, fmt.Sprintf("chaos-%s-%d-", database, s.seed)))))
	if s.keep == "" {
		defer os.RemoveAll(dir) //nolint:errcheck // it is temporary
	}
	must.Nil(os.Chmod(dir, 0o755)) //nolint:gosec // as before
	(&chaos{settings: s, database: database, dir: dir}).run(ctx)
}

func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().UTC().Format("15:04:05 ")+format+"\n", args...)
}
