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

	"github.com/nextrun/nextrun/bench/internal/own"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "own" {
		ctx, stop := ui.WithSignals(context.Background())
		exit := own.Run(ctx, os.Args[2:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
		stop()
		os.Exit(exit)
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) > 1 && os.Args[1] == peerCommand { // a process of a peer, which this program starts itself
		return runPeer(ctx, os.Args[2:])
	}
	only := flag.String("run", ".", "measure the groups and figures whose names match this regular `expression`")
	rounds := flag.Int("rounds", 7, "measurements of each; the medians count")
	program := flag.String("nextrun", "", "`path` of the program nextrun")
	node := flag.String("node", "", "`directory` of testdata/consumers/node, after its install; empty: without Graphile Worker and pg-boss")
	jsonFile := flag.String("json", "", "`file` for the raw figures")
	markdown := flag.String("markdown", "", "`file` for the table as Markdown")
	into := flag.String("into", "", "`file` of Markdown that gets the table between its lines <!-- bench: begin --> and <!-- bench: end -->")
	update := flag.Bool("update", false, "keep the rows of other groups that the file of -json has, so that a table is made part by part")
	list := flag.Bool("list", false, "name the groups, and measure nothing")
	flag.Parse()
	expression, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	b := &bench{server: os.Getenv("NEXTRUN_TEST_POSTGRES"), program: *program, node: *node, rounds: *rounds}
	if !*list && (b.server == "" || b.program == "") {
		return fmt.Errorf("NEXTRUN_TEST_POSTGRES and -nextrun are needed; run it by: make bench")
	}
	chosen := b.matching(expression)
	if *list {
		for _, g := range chosen {
			fmt.Printf("%-26s %s\n", g.name, g.about)
		}
		return nil
	}
	if len(chosen) == 0 {
		return fmt.Errorf("no group matches %s; -list names them", *only)
	}
	r, err := b.report(ctx)
	if err != nil {
		return err
	}
	if *update {
		if err := r.keep(*jsonFile, b.groups(), chosen); err != nil {
			return err
		}
	}
	return errors.Join(b.measureAll(ctx, chosen, r), r.write(os.Stdout, *jsonFile, *markdown, *into))
}

// matching are the groups whose names match.
func (b *bench) matching(only *regexp.Regexp) (chosen []group) {
	for _, g := range b.groups() {
		if only.MatchString(g.name) {
			chosen = append(chosen, g)
		}
	}
	return chosen
}

// measureAll measures groups one after the other, until one fails. The report has those before it.
func (b *bench) measureAll(ctx context.Context, chosen []group, r *report) error {
	defer r.sort(b.groups())
	for _, g := range chosen {
		if err := b.measure(ctx, g, r); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	return nil
}
