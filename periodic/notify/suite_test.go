package notify_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"go.uber.org/goleak"

	"github.com/nextrun/nextrun/periodic/notify"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// consumer answers requests without a network. Tests change what it does.
type consumer struct {
	mu      sync.Mutex
	status  int // 0: no answer
	takes   time.Duration
	header  http.Header
	at      []time.Time
	request *http.Request
}

func (c *consumer) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.at, c.request = append(c.at, time.Now()), r
	status, takes, header := c.status, c.takes, c.header
	c.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if status == 0 {
		return nil, errors.New("connection refused by " + r.URL.String())
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: header, Body: http.NoBody, Request: r}, nil
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

// lines is what a logger wrote. It is safe for concurrent use.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// logged is a logger and what it wrote.
func logged() (*logrus.Logger, *lines) {
	text := &lines{}
	log := logrus.New()
	log.SetOutput(text)
	return log, text
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
