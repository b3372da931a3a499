// Command bench measures nextrun beside the limit that a database sets and beside River, on one PostgreSQL and on SQLite, in
// one run of 20 minutes; beside other peers, and with a million tasks, in groups that -run must name. It prints one table: each
// figure, what it is compared with, and the aim.
//
//	NEXTRUN_TEST_POSTGRES=postgres://... go run . -nextrun ../bin/nextrun [-run REGEXP] [-rounds N]
//
// Those that are compared take turns: each round measures all of them once, each in a database of its own, so that a machine
// that is busy for a while hits all of them. What counts are the ratios; the figures depend on the machine.
//
// It is a module of its own, so that the product does not depend on those it is compared with.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"github.com/nextrun/nextrun/bench/internal/must"
)

func main() {
	if err := must.Try(run); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) > 1 && peers[os.Args[1]] != nil { // a process of a peer, which this program starts itself
		peers[os.Args[1]](ctx, os.Args[2:])
		return
	}
	only := flag.String("run", ".", "measure the groups whose names match this regular `expression`")
	rounds := flag.Int("rounds", 0, "measurements of each, of which the medians count; 0: so many that all of it takes 20 minutes")
	program := flag.String("nextrun", "", "`path` of the program nextrun")
	list := flag.Bool("list", false, "name the groups, and measure nothing")
	flag.Parse()
	expression := must.Get(regexp.Compile(*only))
	b := &bench{server: os.Getenv("NEXTRUN_TEST_POSTGRES"), program: *program, rounds: *rounds}
	if *list {
		for _, g := range b.groups() {
			fmt.Println(g.name)
		}
		return
	}
	if b.server == "" || b.program == "" {
		panic(errors.New("NEXTRUN_TEST_POSTGRES and -nextrun are needed; run it by: make bench"))
	}
	t := b.newTable(ctx)
	defer func() { fmt.Print(t.markdown()) }() // also what there is after an error
	for _, g := range b.groups() {
		if expression.MatchString(g.name) && (!g.apart || *only != ".") {
			b.measure(ctx, g, t)
		}
	}
}
