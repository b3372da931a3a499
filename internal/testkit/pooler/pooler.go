// Package pooler is a small pooler in transaction mode, for tests: all its clients share one session of the server.
package pooler

import (
	"database/sql/driver"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/lib/pq"
)

// New returns the URL of a database behind a pooler, until the test ends.
func New(t testing.TB, databaseURL string) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	p := &pooler{}
	session, err := pq.DialOpen(p, databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	p.session = session
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = listener.Close(), p.server.Close() })
	u.Host = listener.Addr().String()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	return u.String()
}

type pooler struct {
	session driver.Conn // keeps what made the connection
	server  net.Conn
	turn    sync.Mutex // who has it has the session
}

// Dial implements [pq.Dialer]: it notes the connection.
func (p *pooler) Dial(network, address string) (net.Conn, error) {
	conn, err := net.Dial(network, address)
	p.server = conn
	return conn, err
}

// DialTimeout implements [pq.Dialer].
func (p *pooler) DialTimeout(network, address string, _ time.Duration) (net.Conn, error) {
	return p.Dial(network, address)
}

// serve lends a client the session for each of its transactions.
func (p *pooler) serve(client net.Conn) {
	defer client.Close() //nolint:errcheck // nobody waits for it
	if !greet(client) {
		return
	}
	for {
		kind, message, err := read(client)
		if err != nil || kind == 'X' {
			return
		}
		if !p.transaction(client, message) {
			return
		}
	}
}

// transaction passes messages until the server is in no transaction any more.
func (p *pooler) transaction(client net.Conn, first []byte) bool {
	p.turn.Lock()
	defer p.turn.Unlock()
	kind, message := first[0], first
	for {
		if _, err := p.server.Write(message); err != nil {
			return false
		}
		if kind == 'Q' || kind == 'S' {
			idle, err := p.answer(client)
			if err != nil || idle {
				return err == nil
			}
		}
		var err error
		if kind, message, err = read(client); err != nil || kind == 'X' {
			_, _ = p.server.Write(query("ROLLBACK"))
			_, _ = p.answer(struct {
				io.Reader
				io.Writer
			}{nil, io.Discard})
			return false
		}
	}
}

// answer passes answers on until the server is ready, and says whether it is in no transaction.
func (p *pooler) answer(client io.Writer) (idle bool, err error) {
	for {
		kind, message, err := read(p.server)
		if err != nil {
			return false, err
		}
		_, _ = client.Write(message) // the server goes on without the client
		if kind == 'Z' {
			return message[5] == 'I', nil
		}
	}
}

// greet lets a client in.
func greet(client net.Conn) bool {
	for {
		head := make([]byte, 8)
		if _, err := io.ReadFull(client, head); err != nil {
			return false
		}
		const sslRequest, cancelRequest = 80877103, 80877102
		switch code := binary.BigEndian.Uint32(head[4:]); code {
		case sslRequest:
			_, _ = client.Write([]byte{'N'})
			continue
		case cancelRequest:
			return false
		}
		if _, err := io.CopyN(io.Discard, client, int64(binary.BigEndian.Uint32(head))-8); err != nil {
			return false
		}
		hello := framed('R', []byte{0, 0, 0, 0})
		for name, value := range map[string]string{"server_version": "15.0", "client_encoding": "UTF8", "standard_conforming_strings": "on",
			"integer_datetimes": "on", "DateStyle": "ISO, MDY", "TimeZone": "UTC", "server_encoding": "UTF8"} {
			hello = append(hello, framed('S', []byte(name+"\x00"+value+"\x00"))...)
		}
		hello = append(hello, framed('K', make([]byte, 8))...)
		_, err := client.Write(append(hello, framed('Z', []byte{'I'})...))
		return err == nil
	}
}

func query(text string) []byte { return framed('Q', []byte(text+"\x00")) }

func framed(kind byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...)
}

// read reads a message, with its head.
func read(from io.Reader) (kind byte, message []byte, err error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(from, head); err != nil {
		return 0, nil, err
	}
	message = make([]byte, 1+binary.BigEndian.Uint32(head[1:]))
	copy(message, head)
	_, err = io.ReadFull(from, message[5:])
	return head[0], message, err
}
