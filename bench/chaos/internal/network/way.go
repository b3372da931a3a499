package network

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// way passes connections of an instance on to the server.
type way struct {
	name, address string
	upstream      *atomic.Value
	weather       atomic.Pointer[weather]

	mu       sync.Mutex
	listener net.Listener
	links    map[*link]bool
}

// link is a connection on a way.
type link struct {
	client, server net.Conn
	answered       int         // bytes of answers, while these are counted
	torn           atomic.Bool // bytes of it were lost
	silent         atomic.Bool // nothing gets through any more, and nobody hears of its end
}

// weather is what becomes of the bytes on their way: what these functions return goes on. A function that is nil changes nothing.
type weather struct {
	request, answer func(l *link, text []byte) []byte
}

func newWay(name string, upstream *atomic.Value) (*way, error) {
	w := &way{name: name, address: "127.0.0.1:0", upstream: upstream, links: map[*link]bool{}}
	w.weather.Store(&weather{})
	err := w.listen()
	return w, err
}

// listen takes connections, at the same address as before.
func (w *way) listen() error {
	listener, err := net.Listen("tcp", w.address)
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.listener, w.address = listener, listener.Addr().String()
	w.mu.Unlock()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go w.connect(client)
		}
	}()
	return nil
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
	for l := range w.links {
		do(l)
	}
}

// clear ends a weather, and the connections that have lost bytes.
func (w *way) clear() {
	w.weather.Store(&weather{})
	w.each(func(l *link) {
		if l.torn.Load() {
			l.close()
		}
	})
}

func (w *way) connect(client net.Conn) {
	server, err := net.Dial("tcp", w.upstream.Load().(string))
	if err != nil {
		_ = client.Close()
		return
	}
	l := &link{client: client, server: server}
	w.mu.Lock()
	w.links[l] = true
	w.mu.Unlock()
	var answers sync.WaitGroup
	answers.Go(func() {
		w.carry(l, server, client, func(now *weather) func(*link, []byte) []byte { return now.answer })
		if !l.silent.Load() {
			l.close()
		}
	})
	w.carry(l, client, server, func(now *weather) func(*link, []byte) []byte { return now.request })
	l.close()
	answers.Wait()
	w.mu.Lock()
	delete(w.links, l)
	w.mu.Unlock()
}

// carry passes bytes, and the end of the connection, through the weather.
func (w *way) carry(l *link, from, to net.Conn, treatment func(now *weather) func(l *link, text []byte) []byte) {
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		text := buffer[:n]
		if treat := treatment(w.weather.Load()); treat != nil {
			text = treat(l, text)
		}
		if len(text) > 0 && !l.silent.Load() {
			if _, err := to.Write(text); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (l *link) close() { _, _ = l.client.Close(), l.server.Close() }

// reset closes a connection with a TCP RST.
func reset(c net.Conn) {
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
}

func vanish(l *link, _ []byte) []byte {
	l.torn.Store(true)
	return nil
}

// endInTheMiddle ends a connection after 2000 bytes.
func endInTheMiddle(l *link, text []byte) []byte {
	rest := max(0, 2000-l.answered)
	if l.answered += len(text); len(text) < rest {
		return text
	}
	_, _ = l.client.Write(text[:min(rest, len(text))])
	l.close()
	return nil
}

func resetSoon(l *link, _ []byte) []byte {
	<-time.After(50 * time.Millisecond)
	reset(l.client)
	return nil
}

func delay(d time.Duration) func(*link, []byte) []byte {
	return func(_ *link, text []byte) []byte {
		<-time.After(d)
		return text
	}
}

// isCommit reports whether a message of the simple protocol of PostgreSQL commits. Drivers send it by itself.
func isCommit(text []byte) bool {
	const heading = 5 // type and length
	return len(text) > heading && text[0] == 'Q' && bytes.EqualFold(text[heading:], []byte("commit\x00"))
}
