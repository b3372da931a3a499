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

	"github.com/nextrun/nextrun/bench/internal/page"
)

func main() {
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
	only := flag.String("run", ".", "measure the groups whose names match this regular `expression`")
	rounds := flag.Int("rounds", 0, "measurements of each, of which the medians count; 0: so many that all of it takes 20 minutes")
	program := flag.String("nextrun", "", "`path` of the program nextrun")
	into := flag.String("into", "", "`file` of Markdown that gets the table between its lines <!-- bench: begin --> and <!-- bench: end -->")
	list := flag.Bool("list", false, "name the groups, and measure nothing")
	flag.Parse()
	expression, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	b := &bench{server: os.Getenv("NEXTRUN_TEST_POSTGRES"), program: *program, rounds: *rounds}
	if *list {
		for _, g := range b.groups() {
			fmt.Println(g.name)
		}
		return nil
	}
	if b.server == "" || b.program == "" {
		return errors.New("NEXTRUN_TEST_POSTGRES and -nextrun are needed; run it by: make bench")
	}
	t, err := b.newTable(ctx)
	if err != nil {
		return err
	}
	err = b.measureAll(ctx, expression, t)
	fmt.Print(t.markdown())
	if err == nil && *into != "" {
		err = page.Replace(*into, "bench", t.markdown()+"\n")
	}
	return err
}

// measureAll measures groups one after the other, until one fails. The table has those before it.
func (b *bench) measureAll(ctx context.Context, only *regexp.Regexp, t *table) error {
	for _, g := range b.groups() {
		if !only.MatchString(g.name) {
			continue
		}
		if err := b.measure(ctx, g, t); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	return nil
}
