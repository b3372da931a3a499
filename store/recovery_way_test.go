package store_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/store"
)

func opened(t *testing.T, url string, o store.Options) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// run is a job that runs in this process until it is to finish.
type run struct {
	once sync.Once
	end  chan struct{}
	err  error
	lost chan struct{}
}

func startJob(t *testing.T, db *store.DB) *run {
	t.Helper()
	r := &run{end: make(chan struct{}), lost: make(chan struct{}, 8)}
	begun := make(chan struct{}, 8)
	cfg := executing("first")
	cfg.Heartbeat = never / 2
	cfg.Observe = func(e executor.Event) {
		if e.Kind == executor.EventLost {
			r.lost <- struct{}{}
		}
	}
	e, err := executor.New(db.Jobs(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	e.Register("report", func(context.Context, *jobqueue.JobContext) error {
		begun <- struct{}{}
		<-r.end
		return r.err
	})
	if err := e.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.finish(); _ = e.Stop(context.Background()) })
	<-begun
	return r
}

func (r *run) finish() { r.once.Do(func() { close(r.end) }) }

func (r *run) isLost() bool { return len(r.lost) > 0 }

// way is a way to the database's server that can be cut.
type way struct {
	t        testing.TB
	url      string
	server   string
	network  string
	listener net.Listener
	mu       sync.Mutex
	open     []net.Conn
	isCut    bool
	renames  bool // sessions, as some poolers do
}

// gated is a connection of a client, from which nothing more arrives once the way is cut: what the
// client sends when it sees the first of its connections end must not get through on another.
type gated struct {
	net.Conn
	w *way
}

func (g gated) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	if g.w.isCut {
		return 0, net.ErrClosed
	}
	return n, err
}

// renamed is a connection whose server reads another name of the worker first.
type renamed struct{ net.Conn }

func (r renamed) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	copy(p, bytes.ReplaceAll(p[:n], []byte(" first@"), []byte(" FIRST@")))
	return n, err
}

func newWay(t testing.TB, to string) *way {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	w := &way{t: t, network: "tcp", server: u.Host}
	if host := u.Query().Get("host"); host != "" {
		port := u.Query().Get("port")
		if port == "" {
			port = "5432"
		}
		w.network, w.server = "unix", host+"/.s.PGSQL."+port
	}
	if w.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Del("host")
	query.Del("port")
	query.Set("sslmode", "disable")
	u.Host, u.RawQuery = w.listener.Addr().String(), query.Encode()
	w.url = u.String()
	go w.serve()
	t.Cleanup(func() { _ = w.listener.Close(); w.cut() })
	return w
}

func (w *way) serve() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(w.network, w.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		w.mu.Lock()
		w.open = append(w.open, client, server)
		if w.isCut {
			_, _ = client.Close(), server.Close()
		}
		renames := w.renames
		w.mu.Unlock()
		pass := func(to, from net.Conn) {
			_, _ = io.Copy(to, from)
			_, _ = to.Close(), from.Close()
		}
		go pass(client, server)
		var sent net.Conn = gated{client, w}
		if renames {
			sent = renamed{sent}
		}
		go pass(server, sent)
	}
}

// rename gives sessions to come another name.
func (w *way) rename() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.renames = true
}

// cut ends all connections, and those to come.
func (w *way) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = true
	for _, c := range w.open {
		_ = c.Close()
	}
	w.open = nil
}

func (w *way) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = false
}
