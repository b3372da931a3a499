package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

// bench is what all measurements know.
type bench struct {
	server  string // URL of a PostgreSQL server whose user may do all
	program string // nextrun
	rounds  int    // 0: as many as each group has
}

// values are the figures of one measurement by their names. One that could not be taken on this system is not in it.
type values map[string]float64

// group is a set of figures that several sides have measured in turn.
type group struct {
	name    string
	rounds  int
	sides   []side // the first one is nextrun's
	figures []figure
	apart   bool                                      // measured only if it is named, as it takes long
	around  func(ctx context.Context, measure func()) // runs all rounds, and before and after them what they need; nil: nothing
}

// side is nextrun, a peer, or a limit.
type side struct {
	name    string
	measure func(ctx context.Context) values // panics by must.Nil
}

// figure is a line of the table: a value, what it is compared with, and an aim.
type figure struct {
	what, unit string
	value      string // its name among the values
	of         string // the side; empty: the first one
	beside     string // the side with which it is compared; empty: none
	aim        aim
}

// aim is what a figure shall reach: a ratio if it is compared with something, else a value; 0: nothing.
type aim struct {
	limit float64
	least bool // more is better
	alone bool // the value counts, not the ratio
}

// measure measures a group and adds it to the table, also what there is after an error.
func (b *bench) measure(ctx context.Context, g group, t *table) {
	rounds := g.rounds
	if b.rounds > 0 {
		rounds = b.rounds
	}
	all := map[string][]values{}
	defer func() { t.add(g, all) }()
	if g.around == nil {
		g.run(ctx, rounds, all)
		return
	}
	g.around(ctx, func() { g.run(ctx, rounds, all) })
}

// run measures the sides in turn.
func (g group) run(ctx context.Context, rounds int, all map[string][]values) {
	for round := range rounds {
		for i := range g.sides {
			s := g.sides[(i+round)%len(g.sides)] // nobody is always the first
			fmt.Fprintf(os.Stderr, "%s %s, round %d of %d: %s\n", time.Now().UTC().Format("15:04:05"), g.name, round+1, rounds, s.name)
			all[s.name] = append(all[s.name], s.measure(ctx))
		}
	}
}
