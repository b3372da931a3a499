//go:build linux

package main

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// hears asks a server that repeats what it hears, and wants it to do so within a time, or else nothing or the end.
func hears(t *testing.T, c net.Conn, asked, want string) {
	t.Helper()
	_, _ = c.Write([]byte(asked))
	_ = c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
	answer := make([]byte, 100)
	n, err := c.Read(answer)
	said := string(answer[:n])
	if errors.Is(err, os.ErrDeadlineExceeded) {
		said = "nothing"
	} else if err != nil {
		said = "end"
	}
	if said != want {
		t.Errorf("%q is answered by %q, want %q", asked, said, want)
	}
}

func TestWeathers(t *testing.T) {
	server := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	defer server.Close()
	go func() {
		for c, err := server.Accept(); err == nil; c, err = server.Accept() {
			go func() { _, _ = io.Copy(c, c) }()
		}
	}()
	n := newNetwork(server.Addr().String(), 1)
	defer n.close()
	w := n.ways[0]
	dial := func() net.Conn { return must.Get(net.Dial("tcp", w.address)) }
	first := dial()
	hears(t, first, "hello", "hello")
	over := make(chan struct{})
	w.weather.Store(&weather{answer: func(_ *link, text []byte) []byte { <-over; return text }})
	hears(t, first, "later", "nothing")
	w.weather.Store(&weather{})
	close(over)
	hears(t, first, "", "later")
	w.each(func(l *link) { l.silent.Store(true) })
	hears(t, first, "anybody?", "nothing")
	fresh := dial()
	hears(t, fresh, "hello", "hello")
	w.weather.Store(&weather{request: vanish})
	hears(t, fresh, "lost", "nothing")
	w.weather.Store(&weather{})
	w.cut()
	hears(t, fresh, "again", "end")
	if c, err := net.Dial("tcp", w.address); err == nil {
		t.Errorf("not refused: %v", c.Close())
	}
	w.listen()
	hears(t, dial(), "hello", "hello")
}
