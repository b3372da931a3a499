package network

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"
)

// cutter passes connections of PostgreSQL on, and can reset them at the moment at which a transaction commits.
type cutter struct {
	listener net.Listener
	upstream string
	mode     atomic.Int32
	cuts     atomic.Int32 // how often it has
	mu       sync.Mutex
	open     map[net.Conn]net.Conn
}

// What a cutter does with a COMMIT.
const (
	passCommits  = iota
	resetBefore  // the server never hears of it
	resetAfter   // the server commits, the client does not hear of it
	commitWord   = "commit\x00"
	copyBuffer   = 16 << 10
	simpleQuery  = 'Q'
	queryHeading = 5 // type and length
)

func newCutter(upstream string) (*cutter, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &cutter{listener: listener, upstream: upstream, open: map[net.Conn]net.Conn{}}
	go c.accept()
	return c, nil
}

func (c *cutter) address() string { return c.listener.Addr().String() }

func (c *cutter) accept() {
	for {
		client, err := c.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", c.upstream)
		if err != nil {
			_ = client.Close()
			continue
		}
		c.mu.Lock()
		c.open[client] = server
		c.mu.Unlock()
		go c.copy(client, server, c.commits)
		go c.copy(server, client, nil)
	}
}

// copy passes bytes on until one side has ended. look may end it.
func (c *cutter) copy(from, to net.Conn, look func(from, to net.Conn, text []byte) bool) {
	defer func() { _, _ = from.Close(), to.Close() }()
	buffer := make([]byte, copyBuffer)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if look != nil && look(from, to, buffer[:n]) {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// commits resets the connection of a client whose text commits a transaction, if that is asked for.
func (c *cutter) commits(client, server net.Conn, text []byte) bool {
	mode := c.mode.Load()
	if mode == passCommits || !isCommit(text) {
		return false
	}
	c.cuts.Add(1)
	if mode == resetAfter {
		_, _ = server.Write(text)
	}
	reset(client) // an answer finds nobody
	return true
}

// isCommit reports whether a message, of the simple protocol, commits. Drivers send it by itself.
func isCommit(text []byte) bool {
	return len(text) > queryHeading && text[0] == simpleQuery && bytes.EqualFold(text[queryHeading:], []byte(commitWord))
}

// reset closes a connection with a TCP RST.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// resetAll resets all connections.
func (c *cutter) resetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for client, server := range c.open {
		reset(client)
		reset(server)
		delete(c.open, client)
	}
}
