// Package network is the network between a program and its database, for tests: it falls silent without a word.
package network

import (
	"bytes"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Network passes connections on to a server. Once it is silent, it takes bytes and delivers nothing.
type Network struct {
	URL    string        // of the database, through the network
	Silent chan struct{} // closed when it has fallen silent, new connections too

	server string
	mark   []byte
	stops  bool // at the mark
	once   sync.Once
	mu     sync.Mutex
	links  []*link
}

// link is a connection on its way. The server does not hear of its end when it is silent.
type link struct {
	client, server net.Conn
	silent         chan struct{}
	once           sync.Once
}

// New returns the network before a database, until the test ends.
func New(t testing.TB, databaseURL string) *Network {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &Network{server: u.Host, Silent: make(chan struct{})}
	t.Cleanup(func() {
		_ = listener.Close()
		n.each(func(l *link) { _, _ = l.client.Close(), l.server.Close() })
	})
	u.Host = listener.Addr().String()
	n.URL = u.String()
	go n.accept(listener)
	return n
}

// FallSilent lets the network swallow all, on new connections too.
func (n *Network) FallSilent() { n.once.Do(func() { close(n.Silent) }) }

// FallSilentAt does so before a text.
func (n *Network) FallSilentAt(text string) { n.mark = []byte(text) }

// StopAt falls silent at a text that the server sends, and reads no more of that answer, as a program that stands still.
func (n *Network) StopAt(text string) { n.mark, n.stops = []byte(text), true }

// Forget lets the connections that there are fall silent. New ones work.
func (n *Network) Forget() { n.each(func(l *link) { l.once.Do(func() { close(l.silent) }) }) }

func (n *Network) each(do func(*link)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.links {
		do(l)
	}
}

func (n *Network) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", n.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		l := &link{client: client, server: server, silent: make(chan struct{})}
		n.mu.Lock()
		n.links = append(n.links, l)
		n.mu.Unlock()
		go n.carry(l, client, server)
		go n.carry(l, server, client)
	}
}

// carry passes bytes, and the end of the connection, while the network is not silent.
func (n *Network) carry(l *link, from, to net.Conn) {
	buffer := make([]byte, 16<<10)
	for {
		count, err := from.Read(buffer)
		if n.mark != nil && bytes.Contains(buffer[:count], n.mark) {
			n.FallSilent()
			if n.stops && from == l.server {
				return
			}
		}
		select {
		case <-l.silent:
		case <-n.Silent:
		default:
			if _, failed := to.Write(buffer[:count]); err == nil {
				err = failed
			}
			if err != nil {
				_ = to.Close()
			}
		}
		if err != nil {
			return
		}
	}
}
