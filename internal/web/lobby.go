package web

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// mostConns is how many connections a server keeps. Each takes up to 200 KB until its request has come.
const mostConns = 500

// lobby limits the connections of a server. When there are too many, it closes the one that has waited longest without a
// request, so that clients who open connections and send nothing keep nobody out.
type lobby struct {
	mu      sync.Mutex
	open    int
	waiting map[net.Conn]time.Time
}

// changed is the ConnState of a server.
func (l *lobby) changed(c net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch state {
	case http.StateNew:
		l.open++
		l.waiting[c] = time.Now()
		if l.open > mostConns {
			l.closeOldest()
		}
	case http.StateIdle:
		l.waiting[c] = time.Now()
	case http.StateActive:
		delete(l.waiting, c)
	case http.StateClosed, http.StateHijacked:
		l.open--
		delete(l.waiting, c)
	}
}

func (l *lobby) closeOldest() {
	var oldest net.Conn
	for c, since := range l.waiting {
		if oldest == nil || since.Before(l.waiting[oldest]) {
			oldest = c
		}
	}
	delete(l.waiting, oldest)
	_ = oldest.Close() // its goroutine notices
}
