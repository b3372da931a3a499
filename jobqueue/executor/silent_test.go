package executor_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/store"
)

// network stands between a program and its database, and can fall silent.
type network struct {
	last   string // the message before which it falls silent by itself, if any
	ended  chan struct{}
	mu     sync.Mutex
	silent chan struct{} // nil: it is not; closed when it ends
}

func (n *network) wait(message []byte) {
	if n.last != "" && bytes.Contains(message, []byte(n.last)) {
		n.fallSilent()
	}
	n.mu.Lock()
	silent := n.silent
	n.mu.Unlock()
	if silent != nil {
		<-silent
	}
}

func (n *network) isSilent() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.silent != nil
}

// through returns the database's URL through the network.
func (n *network) through(t *testing.T, databaseURL string) string {
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	server := u.Host
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			d, err := net.Dial("tcp", server)
			if err != nil {
				_ = c.Close()
				continue
			}
			mu.Lock()
			conns = append(conns, c, d)
			mu.Unlock()
			for _, way := range [][2]net.Conn{{c, d}, {d, c}} {
				all.Go(func() {
					_, _ = io.Copy(gate{way[0], n}, way[1])
					_ = way[0].Close()
				})
			}
		}
	})
	u.Host = l.Addr().String()
	return u.String()
}

// gate is a connection behind the network.
type gate struct {
	io.Writer
	n *network
}

func (g gate) Write(p []byte) (int, error) {
	g.n.wait(p)
	return g.Writer.Write(p)
}

// fallSilent lets the network swallow all until the test ends.
func (n *network) fallSilent() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.silent = n.ended
}

// behindNetwork returns a database, and its jobs as a program sees them through n.
func behindNetwork(t *testing.T, n *network) (*fixture, store.JobStore) {
	q := newFixture(migrated.New(t, storetest.Postgres))
	far, err := store.Open(q.ctx, n.through(t, q.URL), store.Options{StatementTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = far.Close() })
	n.ended = make(chan struct{})
	t.Cleanup(func() { close(n.ended) })
	return q, far.Jobs()
}

// stopNow ends an executor without patience.
func (q *fixture) stopNow(e *newExecutor) {
	q.Helper()
	ctx, cancel := context.WithCancel(q.ctx)
	cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- e.Stop(ctx) }()
	_ = receive(q, stopped, "the end of Stop")
}

// A network that swallows all, without a word, ends no handler. Neither the executor nor the end of it waits for
// the network.
func TestExecutorSurvivesASilentNetwork(t *testing.T) {
	t.Parallel()
	var n network
	q, far := behindNetwork(t, &n)
	cause := make(chan error, 10)
	began := make(chan string, 10)
	e := q.executorOn(far, executor.Config{}, map[string]jobqueue.Handler{
		"t": func(ctx context.Context, job *jobqueue.JobContext) error {
			began <- job.JID
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return ctx.Err()
		},
	})
	q.mustStart(e)
	q.submit(jobqueue.Job{Task: "t"})
	receive(q, began, "the job")
	n.fallSilent()
	e.await(1, "of trouble", kind(executor.EventTrouble))
	q.stopNow(e)
	if err := receive(q, cause, "the end of the context"); !errors.Is(err, jobqueue.ErrShutdown) {
		t.Errorf("cause: %v", err)
	}
}

// The same if the network falls silent as the executor begins to listen for changes.
func TestStopDoesNotWaitForASilentNetwork(t *testing.T) {
	t.Parallel()
	n := network{last: "LISTEN"}
	q, far := behindNetwork(t, &n)
	e := q.executorOn(far, executor.Config{}, map[string]jobqueue.Handler{"t": nothing})
	q.mustStart(e)
	storetest.Eventually(q, "the network is silent", n.isSilent)
	q.stopNow(e)
}
