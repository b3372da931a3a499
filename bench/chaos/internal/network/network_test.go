package network

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// dial connects through a way to a server that answers what it is asked.
func dial(t *testing.T, w *way) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", w.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// hears asks, and wants an answer within a time, or else nothing or end.
func hears(t *testing.T, c net.Conn, asked, want string) {
	t.Helper()
	_, _ = c.Write([]byte(asked))
	_ = c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
	answer := make([]byte, 100)
	n, err := c.Read(answer)
	got := string(answer[:n])
	if errors.Is(err, os.ErrDeadlineExceeded) {
		got = "nothing"
	} else if err != nil {
		got = "end"
	}
	if got != want {
		t.Errorf("%q is answered by %q, want %q", asked, got, want)
	}
}

func TestWeathers(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		for c, err := server.Accept(); err == nil; c, err = server.Accept() {
			go func() { _, _ = io.Copy(c, c) }()
		}
	}()
	n, err := New(server.Addr().String(), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	w := n.ways[0]
	first := dial(t, w)
	hears(t, first, "hello", "hello")
	over := make(chan struct{})
	w.weather.Store(&weather{answer: func(_ *link, text []byte) []byte { <-over; return text }})
	hears(t, first, "later", "nothing")
	w.clear()
	close(over)
	hears(t, first, "", "later")
	w.each(func(l *link) { l.silent.Store(true) })
	hears(t, first, "anybody?", "nothing")
	fresh := dial(t, w)
	hears(t, fresh, "hello", "hello")
	w.weather.Store(&weather{request: vanish})
	hears(t, fresh, "lost", "nothing")
	w.clear()
	hears(t, fresh, "again", "end")
	w.cut()
	if c, err := net.Dial("tcp", w.address); err == nil {
		t.Errorf("not refused: %v", c.Close())
	}
	if err := w.listen(); err != nil {
		t.Fatal(err)
	}
	hears(t, dial(t, w), "hello", "hello")
}

func TestCommitsAreSeen(t *testing.T) {
	for text, want := range map[string]bool{
		"Q\x00\x00\x00\x0bcommit\x00": true, "Q\x00\x00\x00\x0bCOMMIT\x00": true, "Q\x00\x00\x00\x0arollback\x00": false, "X": false,
		"P\x00\x00\x00\x0bcommit\x00": false,
	} {
		if isCommit([]byte(text)) != want {
			t.Errorf("isCommit(%q) = %v", text, !want)
		}
	}
}
