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
	once   sync.Once
	silent chan struct{} // closed when it falls silent
	ended  chan struct{}
}

// fallSilent lets the network swallow all until the test ends.
func (n *network) fallSilent() { n.once.Do(func() { close(n.silent) }) }

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
	t.Cleanup(func() { // the program has closed its connections
		_ = l.Close()
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
	if g.n.last != "" && bytes.Contains(p, []byte(g.n.last)) {
		g.n.fallSilent()
	}
	select {
	case <-g.n.silent:
		<-g.n.ended
	default:
	}
	return g.Writer.Write(p)
}

// A network that swallows all, without a word, ends no handler. Neither the executor nor the end of it waits for
// the network, also if it falls silent as the executor begins to listen for changes.
func TestExecutorSurvivesASilentNetwork(t *testing.T) {
	for name, last := range map[string]string{"while a job runs": "", "as it begins": "LISTEN"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newFixture(migrated.New(t, storetest.Postgres))
			n := network{last: last, silent: make(chan struct{}), ended: make(chan struct{})}
			far, err := store.Open(q.ctx, n.through(t, q.URL), store.Options{StatementTimeout: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = far.Close() })
			t.Cleanup(func() { close(n.ended) })
			began, cause := make(chan string, 10), make(chan error, 10)
			e := q.executorOn(far.Jobs(), executor.Config{}, map[string]jobqueue.Handler{
				"t": func(ctx context.Context, job *jobqueue.JobContext) error {
					began <- job.JID
					<-ctx.Done()
					cause <- context.Cause(ctx)
					return ctx.Err()
				},
			})
			if err := e.Start(context.WithoutCancel(q.ctx)); err != nil {
				t.Fatal(err)
			}
			if last == "" {
				q.submit(jobqueue.Job{Task: "t"})
				receive(q, began, "the job")
				n.fallSilent()
				e.await(1, "of trouble", kind(executor.EventTrouble))
			}
			receive(q, n.silent, "silence")
			impatient, cancel := context.WithCancel(q.ctx)
			cancel()
			stopped := make(chan error, 1)
			go func() { stopped <- e.Stop(impatient) }()
			_ = receive(q, stopped, "the end of Stop")
			if last == "" {
				if err := receive(q, cause, "the end of the context"); !errors.Is(err, jobqueue.ErrShutdown) {
					t.Errorf("cause: %v", err)
				}
			}
		})
	}
}
