package leader_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/nextrun/nextrun/periodic/leader"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errDown = errors.New("the database cannot be reached")

// table is scheduler_lock in memory, on the clock of the test.
type table struct {
	mu       sync.Mutex
	rows     map[string]leader.Lock
	watchers map[*link]func()
}

func newTable() *table {
	return &table{rows: map[string]leader.Lock{}, watchers: map[*link]func(){}}
}

func (t *table) read(name string) leader.Lock {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.at(name)
}

func (t *table) at(name string) leader.Lock {
	l := t.rows[name]
	l.Name, l.Now = name, time.Now()
	return l
}

// link is one contender's way to the table.
type link struct {
	*table
	mu      sync.Mutex
	down    bool          // nothing gets through
	deaf    bool          // requests get through, answers do not
	slow    time.Duration // of the answer, after the request took effect
	mute    bool          // no notifications
	stalled time.Duration
}

func (l *link) set(change func(*link)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(l)
}

// do carries a request out.
func (l *link) do(ctx context.Context, request func(*table)) error {
	l.mu.Lock()
	down, deaf, slow := l.down, l.deaf, l.slow
	l.mu.Unlock()
	if down {
		return errDown
	}
	l.table.mu.Lock()
	request(l.table)
	l.table.mu.Unlock()
	if slow > 0 {
		select {
		case <-time.After(slow):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if deaf {
		return errDown
	}
	return ctx.Err()
}

func (l *link) Take(ctx context.Context, c leader.Claim) (row leader.Lock, err error) {
	err = l.do(ctx, func(t *table) {
		if row = t.at(c.Lock); !row.Live() || row.Holder == c.Holder {
			row = leader.Lock{
				Name: c.Lock, Holder: c.Holder, Token: c.Token, Hostname: c.Hostname, PID: c.PID,
				Acquired: row.Now, Heartbeat: row.Now, Expires: row.Now.Add(c.TTL), Now: row.Now,
			}
			t.rows[c.Lock] = row
		}
	})
	return row, err
}

func (l *link) Renew(ctx context.Context, f leader.Fence, ttl time.Duration) (ok bool, err error) {
	err = l.do(ctx, func(t *table) {
		row := t.at(f.Lock)
		if ok = row.Fence() == f; ok {
			row.Heartbeat, row.Expires = row.Now, row.Now.Add(ttl)
			t.rows[f.Lock] = row
		}
	})
	return ok && err == nil, err
}

func (l *link) Release(ctx context.Context, f leader.Fence) (ok bool, err error) {
	err = l.do(ctx, func(t *table) {
		if ok = t.at(f.Lock).Fence() == f; ok {
			delete(t.rows, f.Lock)
			for other, wake := range t.watchers {
				if !other.mute {
					wake()
				}
			}
		}
	})
	return ok && err == nil, err
}

func (l *link) Inspect(ctx context.Context, name string) (row leader.Lock, err error) {
	err = l.do(ctx, func(t *table) { row = t.at(name) })
	if err != nil {
		return leader.Lock{}, err
	}
	return row, nil
}

func (l *link) Guard(context.Context, leader.DBTX, leader.Fence) error { return nil }

func (l *link) Watch(ctx context.Context, _ string, wake func(), _ func(error)) {
	l.table.mu.Lock()
	l.watchers[l] = wake
	l.table.mu.Unlock()
	<-ctx.Done()
	l.table.mu.Lock()
	delete(l.watchers, l)
	l.table.mu.Unlock()
}

func (*link) List(context.Context) ([]leader.Lock, error) { return nil, nil }

func (l *link) Stall() time.Duration { return l.stalled }

// contender is an elector with its link and what it told.
type contender struct {
	*leader.Elector
	link *link
	mu   sync.Mutex
	told []leader.Event
}

func pass(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // in a bubble of synctest it takes no time

const (
	ttl       = 30 * time.Second
	heartbeat = 10 * time.Second
	trust     = 27 * time.Second
)

func newContender(t *testing.T, rows *table, name string, change ...func(*leader.Config)) *contender {
	t.Helper()
	c := &contender{link: &link{table: rows}}
	cfg := leader.Config{Holder: name, Observe: func(e leader.Event) {
		c.mu.Lock()
		c.told = append(c.told, e)
		c.mu.Unlock()
	}}
	for _, f := range change {
		f(&cfg)
	}
	var err error
	if c.Elector, err = leader.New(c.link, cfg); err != nil {
		t.Fatal(err)
	}
	return c
}

func exclusive(c *leader.Config) { c.Exclusive = true }

func (c *contender) start(t *testing.T) *contender {
	t.Helper()
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// stop is for the end of a test: whether the release works does not matter.
func (c *contender) stop() {
	c.link.set(func(l *link) { l.down, l.deaf = false, false })
	_ = c.Stop(context.Background())
}

// kinds are the events so far, without repeated errors.
func (c *contender) kinds() (kinds []leader.EventKind) {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.told {
		if e.Kind != leader.EventError || len(kinds) == 0 || kinds[len(kinds)-1] != leader.EventError {
			kinds = append(kinds, e.Kind)
		}
	}
	return kinds
}

// lead waits for the contender's term and returns how long that took.
func (c *contender) lead(t *testing.T) (*leader.Term, time.Duration) {
	t.Helper()
	begun := time.Now()
	term, err := c.Await(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return term, time.Since(begun)
}

// leads reports whether there is a term.
func (c *contender) leads() bool {
	_, ok := c.Term()
	return ok
}
