// Package network is the network between processes and a PostgreSQL server, with faults in it.
package network

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

// Network has a way to the server for each instance, and one without faults.
type Network struct {
	upstream atomic.Value // address of the server
	ways     []*way
}

// New makes a network that leads to the address of a server.
func New(upstream string, instances int) (*Network, error) {
	n := &Network{}
	n.Lead(upstream)
	for i := range instances + 1 {
		w, err := newWay(fmt.Sprintf("i%d", i), &n.upstream)
		if err != nil {
			return nil, err
		}
		n.ways = append(n.ways, w)
	}
	return n, nil
}

// Address is where the way of the i-th instance begins; beyond the last one, the way without faults.
func (n *Network) Address(i int) string { return n.ways[i].address }

// Lead leads all new connections to another server.
func (n *Network) Lead(upstream string) { n.upstream.Store(upstream) }

// Close ends all ways and their connections.
func (n *Network) Close() {
	for _, w := range n.ways {
		w.cut()
	}
}

// spread makes something happen to ways.
type spread func(ctx context.Context, r *rand.Rand, of []*way) error

// Kinds are what happens to all ways, or to one or two of them.
func (n *Network) Kinds() (list []fault.Kind) {
	add := func(name string, asked bool, do spread) {
		for _, on := range []struct {
			prefix string
			ways   func(r *rand.Rand) []*way
		}{{"network of all: ", n.all}, {"network of one or two: ", n.some}} {
			list = append(list, fault.Kind{Name: on.prefix + name, Asked: asked, Do: func(ctx context.Context, r *rand.Rand, f *fault.Fault) error {
				of := on.ways(r)
				f.On = names(of)
				return do(ctx, r, of)
			}})
		}
	}
	add("cut", false, cut)
	add("connections reset", false, func(_ context.Context, _ *rand.Rand, of []*way) error {
		for _, w := range of {
			w.each(func(l *link) { reset(l.client); reset(l.server) })
		}
		return nil
	})
	add("reset before COMMIT", false, commits(false))
	add("reset after COMMIT", false, commits(true))
	add("half open, requests vanish", false, under(weather{request: vanish}))
	add("half open, answers vanish", false, under(weather{answer: vanish}))
	add("answers end in the middle", false, under(weather{answer: endInTheMiddle}))
	add("reset by peer", false, under(weather{request: resetSoon}))
	add("slow", false, func(ctx context.Context, r *rand.Rand, of []*way) error {
		return under(weather{answer: delay(50*time.Millisecond + time.Duration(r.Int64N(int64(500*time.Millisecond))))})(ctx, r, of)
	})
	add("connections silent for good, new ones work", true, func(_ context.Context, _ *rand.Rand, of []*way) error {
		for _, w := range of {
			w.each(func(l *link) { l.silent.Store(true) })
		}
		return nil
	})
	add("silent for a while, new connections too", true, silence)
	return list
}

func (n *Network) all(*rand.Rand) []*way { return n.ways[:len(n.ways)-1] }

func (n *Network) some(r *rand.Rand) (of []*way) {
	for _, i := range r.Perm(len(n.ways) - 1)[:1+r.IntN(2)] {
		of = append(of, n.ways[i])
	}
	return of
}

func names(of []*way) string {
	var list []string
	for _, w := range of {
		list = append(list, w.name)
	}
	return strings.Join(list, " ")
}

// cut refuses connections for a time.
func cut(ctx context.Context, r *rand.Rand, of []*way) error {
	for _, w := range of {
		w.cut()
	}
	fault.Spell(ctx, r, 500*time.Millisecond, 8*time.Second)
	for _, w := range of {
		if err := w.listen(); err != nil {
			return err
		}
	}
	return nil
}

// under lets a weather last for a time.
func under(sort weather) spread {
	return func(ctx context.Context, r *rand.Rand, of []*way) error {
		blow(ctx, r, of, sort, 500*time.Millisecond, 8*time.Second)
		return nil
	}
}

// silence delivers nothing for a time, and all of it afterwards: nobody had said that anything was lost.
func silence(ctx context.Context, r *rand.Rand, of []*way) error {
	over := make(chan struct{})
	defer close(over)
	hold := func(_ *link, text []byte) []byte {
		<-over
		return text
	}
	blow(ctx, r, of, weather{request: hold, answer: hold}, 5*time.Second, time.Minute)
	return nil
}

// commits resets connections that commit: before the server hears of it, or after.
func commits(after bool) spread {
	return func(ctx context.Context, r *rand.Rand, of []*way) error {
		var hits atomic.Int32
		blow(ctx, r, of, weather{request: func(l *link, text []byte) []byte {
			if !isCommit(text) {
				return text
			}
			hits.Add(1)
			if after {
				_, _ = l.server.Write(text)
			}
			reset(l.client) // an answer finds nobody
			return nil
		}}, 500*time.Millisecond, 4*time.Second)
		if hits.Load() == 0 {
			return fault.ErrNotNow
		}
		return nil
	}
}

func blow(ctx context.Context, r *rand.Rand, of []*way, sort weather, least, most time.Duration) {
	for _, w := range of {
		w.weather.Store(&sort)
	}
	fault.Spell(ctx, r, least, most)
	for _, w := range of {
		w.clear()
	}
}
