package notify_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/nextrun/nextrun/ops/notify"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// consumer answers requests without a network. Tests change what it does.
type consumer struct {
	mu     sync.Mutex
	status int // 0: no answer
	takes  time.Duration
	at     []time.Time
}

func (c *consumer) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.at = append(c.at, time.Now())
	status, takes := c.status, c.takes
	c.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if status == 0 {
		return nil, errors.New("connection refused by " + r.URL.String())
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Body: http.NoBody, Request: r}, nil
}

func (c *consumer) set(status int, takes time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status, c.takes = status, takes
}

func (c *consumer) heard() []time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]time.Time(nil), c.at...)
}

func start(t *testing.T, cfg notify.Config) *notify.Notifier {
	t.Helper()
	n, err := notify.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return n
}

func stop(t *testing.T, n *notify.Notifier) {
	t.Helper()
	if err := n.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

func pass(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // in a bubble of synctest it takes no time
