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
	node    string // empty: no Node.js
	rounds  int
}

// values are the figures of one measurement by their names. One that could not be taken on this system is not in it.
type values map[string]float64

// group is a set of figures that several contenders have measured in turn.
type group struct {
	name, about string
	database    string // PostgreSQL or SQLite
	figures     []figure
	contenders  []contender
	rounds      int    // at most; 0: as many as asked for
	end         func() // of all rounds; may be nil
}

// figure is something that is measured.
type figure struct {
	name, unit string
	more       bool // more is better
}

// contender is nextrun, a peer, or a limit.
type contender struct {
	name    string
	measure func(ctx context.Context) (values, error)
}

// ours is the name of the contender with which the others are compared.
const ours = "nextrun"

func (b *bench) groups() []group {
	var list []group
	list = append(append(list, b.bursts()...), b.foreign())
	list = append(list, b.punctuals()...)
	list = append(list, b.schedulers(), b.plans(), b.steady())
	list = append(list, b.sizes()...)
	list = append(list, b.executors()...)
	list = append(list, b.relays()...)
	list = append(list, b.crons()...)
	return list
}

// measure measures a group and adds it to the report.
func (b *bench) measure(ctx context.Context, g group, r *report) error {
	if g.end != nil {
		defer g.end()
	}
	rounds := b.rounds
	if g.rounds > 0 {
		rounds = min(rounds, g.rounds)
	}
	all := map[string][]values{}
	begun := time.Now()
	for round := range rounds {
		for i := range g.contenders {
			c := g.contenders[(i+round)%len(g.contenders)] // nobody is always the first
			fmt.Fprintf(os.Stderr, "%s %s, round %d of %d: %s\n", time.Now().UTC().Format("15:04:05"), g.name, round+1, rounds, c.name)
			v, err := c.measure(ctx)
			if err != nil {
				r.add(g, all, round, time.Since(begun)) // what there is
				return fmt.Errorf("%s: %w", c.name, err)
			}
			all[c.name] = append(all[c.name], v)
		}
	}
	r.add(g, all, rounds, time.Since(begun))
	return nil
}
