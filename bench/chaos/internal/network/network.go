// Package network is the network between processes and a PostgreSQL server, with faults in it.
package network

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

// Network is the way of each instance to the database: its cutter, and behind that its proxy.
type Network struct {
	upstream string
	proxies  []*toxiproxy.Proxy
	cutters  []*cutter
}

// New makes a way for each instance to the address of a server.
func New(upstream string, instances int) (*Network, error) {
	n := &Network{upstream: upstream}
	quiet := zerolog.Nop()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), quiet)
	for i := range instances {
		p := toxiproxy.NewProxy(server, fmt.Sprintf("i%d", i), "127.0.0.1:0", upstream)
		if err := p.Start(); err != nil {
			return nil, err
		}
		c, err := newCutter(p.Listen)
		if err != nil {
			return nil, err
		}
		n.proxies, n.cutters = append(n.proxies, p), append(n.cutters, c)
	}
	return n, nil
}

// Address is where the way of the i-th instance begins.
func (n *Network) Address(i int) string { return n.cutters[i].address() }

// Lead leads all ways to another server.
func (n *Network) Lead(upstream string) error {
	n.upstream = upstream
	for _, p := range n.proxies {
		if err := p.Update(&toxiproxy.Proxy{Listen: p.Listen, Upstream: upstream, Enabled: true}); err != nil {
			return err
		}
	}
	return nil
}

// Close ends all ways and their connections.
func (n *Network) Close() {
	for i := range n.proxies {
		_ = n.cutters[i].listener.Close()
		n.cutters[i].resetAll()
		n.proxies[i].Stop()
	}
}

// some are the ways that a fault is about: all, or one or two.
func (n *Network) some(r *rand.Rand, all bool) (of []int, name string) {
	if all {
		for i := range n.proxies {
			of = append(of, i)
		}
		return of, "all"
	}
	of = r.Perm(len(n.proxies))[:1+r.IntN(2)]
	var names []string
	for _, i := range of {
		names = append(names, fmt.Sprintf("i%d", i))
	}
	return of, strings.Join(names, " ")
}

// Kinds are what happens to the network: to all ways, or to one or two of them. Their names begin with prefix.
func (n *Network) Kinds(prefix string, all bool) []fault.Kind {
	least, most := 500*time.Millisecond, 15*time.Second
	if all {
		most = 8 * time.Second
	}
	spell := fault.Between(least, most)
	toxic := func(name string, text func(r *rand.Rand) string) fault.Kind {
		return fault.Kind{Name: prefix + name, Do: func(ctx context.Context, r *rand.Rand, f *fault.Fault) error {
			of, on := n.some(r, all)
			f.On = on
			return n.poison(ctx, of, prefix, text(r), spell(r))
		}}
	}
	always := func(text string) func(*rand.Rand) string { return func(*rand.Rand) string { return text } }
	return []fault.Kind{
		{Name: prefix + "cut", Do: func(ctx context.Context, r *rand.Rand, f *fault.Fault) error {
			of, on := n.some(r, all)
			f.On = on
			return n.cut(ctx, of, spell(r))
		}},
		{Name: prefix + "connections reset", Do: func(_ context.Context, r *rand.Rand, f *fault.Fault) error {
			of, on := n.some(r, all)
			f.On = on
			for _, i := range of {
				n.cutters[i].resetAll()
			}
			return nil
		}},
		{Name: prefix + "reset before COMMIT", Do: n.commit(all, resetBefore)},
		{Name: prefix + "reset after COMMIT", Do: n.commit(all, resetAfter)},
		toxic("half open, requests vanish", always(`"type": "timeout", "stream": "upstream", "attributes": {"timeout": 0}`)),
		toxic("half open, answers vanish", always(`"type": "timeout", "stream": "downstream", "attributes": {"timeout": 0}`)),
		toxic("answers end in the middle", always(`"type": "limit_data", "stream": "downstream", "attributes": {"bytes": 2000}`)),
		toxic("reset by peer", always(`"type": "reset_peer", "stream": "upstream", "attributes": {"timeout": 50}`)),
		toxic("slow", func(r *rand.Rand) string {
			return fmt.Sprintf(`"type": "latency", "stream": "downstream", "attributes": {"latency": %d, "jitter": 50}`, 50+r.IntN(500))
		}),
	}
}

// poison puts a toxic on ways for a time.
func (n *Network) poison(ctx context.Context, of []int, name, toxic string, d time.Duration) error {
	for _, i := range of {
		if _, err := n.proxies[i].Toxics.AddToxicJson(strings.NewReader(`{"name": "` + name + `", ` + toxic + `}`)); err != nil {
			return err
		}
	}
	fault.Wait(ctx, d)
	for _, i := range of {
		if err := n.proxies[i].Toxics.RemoveToxic(context.Background(), name); err != nil {
			return err
		}
	}
	return nil
}

// cut refuses connections for a time.
func (n *Network) cut(ctx context.Context, of []int, d time.Duration) error {
	for _, i := range of {
		n.proxies[i].Stop()
	}
	fault.Wait(ctx, d)
	for _, i := range of {
		err := n.proxies[i].Start()
		if err != nil && !errors.Is(err, toxiproxy.ErrProxyAlreadyStarted) { // a failover leads all ways elsewhere
			return err
		}
	}
	return nil
}

// commit resets connections that commit.
func (n *Network) commit(all bool, mode int32) fault.Do {
	return func(ctx context.Context, r *rand.Rand, f *fault.Fault) error {
		of, on := n.some(r, all)
		f.On = on
		for _, i := range of {
			n.cutters[i].mode.Store(mode)
		}
		fault.Wait(ctx, fault.Between(500*time.Millisecond, 4*time.Second)(r))
		cuts := 0
		for _, i := range of {
			n.cutters[i].mode.Store(passCommits)
			cuts += int(n.cutters[i].cuts.Swap(0))
		}
		if f.On = fmt.Sprintf("%s, %d commits", on, cuts); cuts == 0 {
			return fault.ErrNotNow
		}
		return nil
	}
}
