package network

import (
	"io"
	"net"
	"testing"
	"time"
)

// echo is a server that answers what it is asked.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for c, err := listener.Accept(); err == nil; c, err = listener.Accept() {
			go func() { _, _ = io.Copy(c, c) }()
		}
	}()
	return listener.Addr().String()
}

// ask says something, and returns what is answered within a time.
func ask(c net.Conn, text string) (string, error) {
	_, _ = c.Write([]byte(text))
	_ = c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
	answer := make([]byte, 100)
	n, err := c.Read(answer)
	return string(answer[:n]), err
}

func TestWeathers(t *testing.T) {
	n, err := New(echo(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	w := n.ways[0]
	dial := func() net.Conn {
		c, err := net.Dial("tcp", n.Address(0))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	over := make(chan struct{})
	hold := func(_ *link, text []byte) []byte { <-over; return text }
	timeout := func(err error) bool { e, ok := err.(net.Error); return ok && e.Timeout() }
	first, held := dial(), dial()
	for _, c := range []net.Conn{first, held} {
		if got, err := ask(c, "hello"); got != "hello" {
			t.Fatal(got, err)
		}
	}
	w.weather.Store(&weather{answer: hold})
	if got, err := ask(held, "later"); !timeout(err) {
		t.Errorf("held up: %q, %v", got, err)
	}
	w.clear()
	close(over)
	if got, err := ask(held, ""); got != "later" {
		t.Errorf("afterwards: %q, %v", got, err)
	}
	w.each(func(l *link) { l.silent.Store(true) })
	if got, err := ask(first, "anybody?"); !timeout(err) {
		t.Errorf("silent: %q, %v", got, err)
	}
	fresh := dial()
	if got, err := ask(fresh, "hello"); got != "hello" {
		t.Errorf("a new connection: %q, %v", got, err)
	}
	w.weather.Store(&weather{request: vanish})
	if got, err := ask(fresh, "gone"); !timeout(err) {
		t.Errorf("vanishing: %q, %v", got, err)
	}
	w.clear()
	if got, err := ask(fresh, "again"); err == nil || timeout(err) {
		t.Errorf("a connection that lost bytes lives on: %q, %v", got, err)
	}
	w.cut()
	if c, err := net.Dial("tcp", n.Address(0)); err == nil {
		t.Errorf("not refused: %v", c.Close())
	}
	if err := w.listen(); err != nil {
		t.Fatal(err)
	}
	if got, err := ask(dial(), "hello"); got != "hello" {
		t.Errorf("after a cut: %q, %v", got, err)
	}
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
