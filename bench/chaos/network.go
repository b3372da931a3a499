//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// network is between processes and a PostgreSQL server: a way for each instance, and at last one without faults.
type network struct {
	upstream atomic.Value // address of the server to which new connections lead
	ways     []*way
}

// way passes connections of an instance on to the server.
type way struct {
	name, address string
	upstream      *atomic.Value
	weather       atomic.Pointer[weather]

	mu       sync.Mutex
	listener net.Listener
	links    []*link
}

// weather is what becomes of the bytes on their way: what these functions return goes on. A function that is nil changes nothing.
type weather struct {
	request, answer func(l *link, text []byte) []byte
}

// link is a connection on a way.
type link struct {
	client, server net.Conn
	silent         atomic.Bool // nothing gets through any more, and nobody hears of its end
}

func newNetwork(upstream string, instances int) *network {
	n := &network{}
	n.upstream.Store(upstream)
	for i := range instances + 1 {
		w := &way{name: "i" + strconv.Itoa(i), address: "127.0.0.1:0", upstream: &n.upstream}
		w.weather.Store(&weather{})
		w.listen()
		n.ways = append(n.ways, w)
	}
	return n
}

func (n *network) close() {
	for _, w := range n.ways {
		w.cut()
	}
}

// listen takes connections, at the same address as before.
func (w *way) listen() {
	listener := must.Get(net.Listen("tcp", w.address))
	w.listener, w.address = listener, listener.Addr().String()
	go func() {
		for client, err := listener.Accept(); err == nil; client, err = listener.Accept() {
			go w.connect(client)
		}
	}()
}

// cut refuses connections, and ends those that there are.
func (w *way) cut() {
	_ = w.listener.Close()
	w.each((*link).close)
}

// each does something to all connections.
func (w *way) each(do func(l *link)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.links {
		do(l)
	}
}

func (w *way) connect(client net.Conn) {
	server, err := net.Dial("tcp", w.upstream.Load().(string))
	if err != nil {
		_ = client.Close()
		return
	}
	l := &link{client: client, server: server}
	w.mu.Lock()
	w.links = append(w.links, l)
	w.mu.Unlock()
	go w.carry(l, server, client)
	w.carry(l, client, server)
}

// carry passes bytes, and the end of the connection, through the weather.
func (w *way) carry(l *link, from, to net.Conn) {
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		text := buffer[:n]
		treat := w.weather.Load().request
		if from == l.server {
			treat = w.weather.Load().answer
		}
		if treat != nil {
			text = treat(l, text)
		}
		if len(text) > 0 && !l.silent.Load() {
			_, failed := to.Write(text)
			err = errors.Join(err, failed)
		}
		if err != nil {
			break
		}
	}
	if !l.silent.Load() || from == l.client {
		l.close()
	}
}

func (l *link) close() { _, _ = l.client.Close(), l.server.Close() }

// reset closes the connection to the client with a TCP RST, and then that to the server.
func (l *link) reset() {
	_ = l.client.(*net.TCPConn).SetLinger(0)
	l.close()
}

// spread makes something happen to ways.
type spread func(ctx context.Context, r *rand.Rand, of []*way)

func (n *network) kinds() []kind {
	return []kind{
		{"network: cut", n.on(cut)},
		{"network: connections reset", n.on(toEach((*link).reset))},
		{"network: reset before COMMIT", n.on(commits(false))},
		{"network: reset after COMMIT", n.on(commits(true))},
		{"network: half open, requests vanish", n.on(halfOpen(weather{request: vanish}))},
		{"network: half open, answers vanish", n.on(halfOpen(weather{answer: vanish}))},
		{"network: answers end in the middle", n.on(halfOpen(weather{answer: tear}))},
		{"network: slow", n.on(slow)},
		{"silent network: connections silent for good, new ones work", n.on(toEach(func(l *link) { l.silent.Store(true) }))},
		{"silent network: silent for a while, new connections too", n.on(silence)},
	}
}

// on lets something happen to all ways, or to one or two of them.
func (n *network) on(do spread) do {
	return func(ctx context.Context, r *rand.Rand, f *fault) {
		instances := len(n.ways) - 1
		var of []*way
		for _, i := range r.Perm(instances)[:pick(r, 1, 2, instances, instances)] {
			of = append(of, n.ways[i])
			f.on += n.ways[i].name + " "
		}
		do(ctx, r, of)
	}
}

// cut refuses connections for a time.
func cut(ctx context.Context, r *rand.Rand, of []*way) {
	for _, w := range of {
		w.cut()
	}
	spell(ctx, r, 500*time.Millisecond, 8*time.Second)
	for _, w := range of {
		w.listen()
	}
}

// toEach does something to all connections that there are.
func toEach(do func(*link)) spread {
	return func(_ context.Context, _ *rand.Rand, of []*way) {
		for _, w := range of {
			w.each(do)
		}
	}
}

// blow lets a weather last for a time.
func blow(ctx context.Context, r *rand.Rand, of []*way, sort weather, least, most time.Duration) {
	for _, w := range of {
		w.weather.Store(&sort)
	}
	spell(ctx, r, least, most)
	for _, w := range of {
		w.weather.Store(&weather{})
	}
}

// halfOpen lets bytes get lost for a time, and then ends the connections, from which they are missing.
func halfOpen(sort weather) spread {
	return func(ctx context.Context, r *rand.Rand, of []*way) {
		blow(ctx, r, of, sort, 500*time.Millisecond, 8*time.Second)
		toEach((*link).close)(ctx, r, of)
	}
}

func vanish(*link, []byte) []byte { return nil }

// tear ends a connection in the middle of an answer, unless that is as short as those to a BEGIN.
func tear(l *link, text []byte) []byte {
	if len(text) < 400 {
		return text
	}
	_, _ = l.client.Write(text[:len(text)/2])
	l.close()
	return nil
}

func slow(ctx context.Context, r *rand.Rand, of []*way) {
	d := 50*time.Millisecond + time.Duration(r.Int64N(int64(500*time.Millisecond)))
	late := func(_ *link, text []byte) []byte { <-time.After(d); return text }
	blow(ctx, r, of, weather{answer: late}, 500*time.Millisecond, 8*time.Second)
}

// silence delivers nothing for a time, and all of it afterwards: nobody had said that anything was lost.
func silence(ctx context.Context, r *rand.Rand, of []*way) {
	over := make(chan struct{})
	defer close(over)
	hold := func(_ *link, text []byte) []byte { <-over; return text }
	blow(ctx, r, of, weather{request: hold, answer: hold}, 5*time.Second, time.Minute)
}

// commits resets connections that commit: before the server hears of it, or after.
func commits(after bool) spread {
	return func(ctx context.Context, r *rand.Rand, of []*way) {
		var hits atomic.Int32
		blow(ctx, r, of, weather{request: func(l *link, text []byte) []byte {
			const heading = 5 // type and length of a message of the simple protocol; drivers send COMMIT by itself
			if len(text) <= heading || text[0] != 'Q' || !bytes.EqualFold(text[heading:], []byte("commit\x00")) {
				return text
			}
			hits.Add(1)
			if after {
				_, _ = l.server.Write(text)
			}
			l.reset() // an answer finds nobody
			return nil
		}}, 500*time.Millisecond, 4*time.Second)
		if hits.Load() == 0 {
			panic(errNotNow)
		}
	}
}
