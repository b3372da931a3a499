package notify_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"
	"go.uber.org/goleak"

	"github.com/nextrun/nextrun/periodic"
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

func submitted(sink periodic.Sink) periodic.Event {
	return periodic.Event{Kind: periodic.EventTick, Task: &periodic.Task{Sink: sink}, Tick: periodic.Tick{Decision: periodic.Submitted}}
}

// Only jobs of its own queue make a notifier send.
func TestObserve(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &consumer{status: http.StatusOK}
		n := start(t, notify.Config{Sink: "legacy", URL: "http://worker/wake", Transport: c, Header: http.Header{"X-Token": {"secret"}}})
		skipped := submitted("legacy")
		skipped.Tick.Decision = periodic.Skipped
		for _, e := range []periodic.Event{{Kind: periodic.EventBatch}, skipped, submitted(periodic.SinkJob)} {
			n.Observe(e)
			synctest.Wait()
		}
		if got := c.heard(); len(got) != 0 {
			t.Errorf("requests without a job: %d", len(got))
		}
		n.Observe(submitted("legacy"))
		synctest.Wait()
		if len(c.heard()) != 1 || c.request.Method != http.MethodPost || c.request.URL.String() != "http://worker/wake" ||
			c.request.Header.Get("X-Token") != "secret" {
			t.Errorf("requests after a job: %d, the last one %+v", len(c.heard()), c.request)
		}
		stop(t, n)
	})
}

// While a request is in flight, all further commits together cause one more.
func TestRequestsAreCoalesced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &consumer{status: http.StatusNoContent, takes: time.Second}
		n := start(t, notify.Config{URL: "http://worker", Transport: c})
		n.Notify()
		synctest.Wait()
		for range 50 {
			n.Observe(submitted(periodic.SinkJob))
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		if got := len(c.heard()); got != 2 {
			t.Errorf("requests: %d, want 2", got)
		}
		stop(t, n)
	})
}

// A request that failed is retried with growing pauses, a few times. An outage is
// logged when it begins and when it ends, without secrets.
func TestOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, text := logged()
		c := &consumer{}
		n := start(t, notify.Config{
			URL: "http://user:pass-word@worker/wake?token=s3cret", Transport: c, Logger: log,
			Header: http.Header{"Authorization": {"Bearer t0ken"}}, RetryMin: time.Second, RetryMax: 4 * time.Second,
		})
		n.Notify()
		time.Sleep(time.Minute)
		at := c.heard()
		if len(at) != 1+notify.DefaultRetries {
			t.Fatalf("attempts: %d, want %d", len(at), 1+notify.DefaultRetries)
		}
		for i, most := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
			if pause := at[i+1].Sub(at[i]); pause < most/2 || pause > most {
				t.Errorf("pause %d: %s, want %s to %s", i+1, pause, most/2, most)
			}
		}
		c.set(http.StatusServiceUnavailable, 0)
		n.Notify()
		time.Sleep(time.Minute)
		c.set(http.StatusOK, 0)
		n.Notify()
		time.Sleep(time.Minute)
		stop(t, n)
		lines := strings.Split(strings.TrimSpace(text.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], "cannot notify") || !strings.Contains(lines[1], "works again") {
			t.Errorf("the log is:\n%s", text)
		}
		for _, secret := range []string{"pass-word", "s3cret", "t0ken"} {
			if strings.Contains(text.String(), secret) {
				t.Errorf("the log shows %s:\n%s", secret, text)
			}
		}
	})
}

// Commits while a request waits for its retry are told of by that retry.
func TestRetryTellsOfLaterCommits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, _ := logged()
		c := &consumer{status: http.StatusServiceUnavailable}
		n := start(t, notify.Config{URL: "http://worker", Transport: c, Logger: log, RetryMin: 10 * time.Second})
		n.Notify()
		synctest.Wait()
		c.set(http.StatusOK, 0)
		for range 5 {
			n.Notify()
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		if got := len(c.heard()); got != 2 {
			t.Errorf("requests: %d, want 2", got)
		}
		stop(t, n)
	})
}

// What was refused is not retried, and not before the time that Retry-After names.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int{
		http.StatusNotFound: 1, http.StatusUnauthorized: 1, http.StatusFound: 1,
		http.StatusTooManyRequests: 2, http.StatusRequestTimeout: 2, http.StatusBadGateway: 2,
	} {
		synctest.Test(t, func(t *testing.T) {
			log, text := logged()
			c := &consumer{status: status, header: http.Header{"Retry-After": {"20"}}}
			n := start(t, notify.Config{URL: "http://worker", Transport: c, Logger: log, Retries: 1})
			n.Notify()
			time.Sleep(time.Minute)
			at := c.heard()
			if len(at) != want || want == 2 && at[1].Sub(at[0]) != 20*time.Second {
				t.Errorf("%d: attempts at %v, want %d", status, at, want)
			}
			if !strings.Contains(text.String(), http.StatusText(status)) {
				t.Errorf("%d: the log is:\n%s", status, text)
			}
			stop(t, n)
		})
	}
}

// A consumer that does not answer delays nobody: not the others, and not the end.
func TestSilentConsumer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, _ := logged()
		silent, good := &consumer{status: http.StatusOK, takes: time.Hour}, &consumer{status: http.StatusOK}
		n := start(t, notify.Config{
			Transport: byHost{"silent": silent, "good": good}, Logger: log, Timeout: 3 * time.Second,
			Addresses: func(context.Context) ([]string, error) { return []string{"http://silent", "http://good"}, nil },
		})
		begun := time.Now()
		for range 10 {
			n.Notify()
			synctest.Wait()
		}
		if took := time.Since(begun); took > 0 || len(good.heard()) != 10 || len(silent.heard()) != 1 {
			t.Errorf("after %s the good one has %d requests, want 10, the silent one %d, want 1", took, len(good.heard()), len(silent.heard()))
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := n.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("it stopped after %s with: %v", time.Since(begun), err)
		}
	})
}

// byHost are consumers by their host.
type byHost map[string]*consumer

func (b byHost) RoundTrip(r *http.Request) (*http.Response, error) { return b[r.URL.Host].RoundTrip(r) }

// Stop sends what was committed before it, also if Start was a moment ago.
func TestStopSendsWhatIsDue(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusOK, 0} {
		synctest.Test(t, func(t *testing.T) {
			log, _ := logged()
			c := &consumer{status: status}
			n := start(t, notify.Config{URL: "http://worker", Transport: c, Logger: log})
			n.Notify()
			begun := time.Now()
			stop(t, n)
			if got := len(c.heard()); got != 1 || time.Since(begun) > 0 {
				t.Errorf("requests: %d after %s, want 1 at once", got, time.Since(begun))
			}
			stop(t, n)
			if n.Start(t.Context()) == nil {
				t.Error("it started after it had stopped")
			}
		})
	}
}

// Addresses are read again now and then. If they cannot be read, the last ones serve.
func TestAddressesChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, text := logged()
		a, b := &consumer{status: http.StatusOK}, &consumer{status: http.StatusOK}
		var mu sync.Mutex
		list, trouble, reads := []string{"http://a", "http://a", "none"}, error(nil), 0
		n := start(t, notify.Config{
			Transport: byHost{"a": a, "b": b}, Logger: log,
			Addresses: func(context.Context) ([]string, error) {
				mu.Lock()
				defer mu.Unlock()
				reads++
				return list, trouble
			},
		})
		next := func(after time.Duration, change func()) {
			time.Sleep(after)
			mu.Lock()
			change()
			mu.Unlock()
			n.Notify()
			synctest.Wait()
		}
		next(0, func() {})
		next(time.Second, func() { list = []string{"http://b"} })
		if mu.Lock(); len(a.heard()) != 2 || len(b.heard()) != 0 || reads != 1 {
			t.Errorf("a has %d, b %d, after %d reads", len(a.heard()), len(b.heard()), reads)
		}
		mu.Unlock()
		if !strings.Contains(text.String(), "not an http or https URL") {
			t.Errorf("the log lacks the bad address:\n%s", text)
		}
		next(time.Minute, func() {})
		next(time.Minute, func() { trouble = errors.New("no database") })
		next(time.Minute, func() {})
		next(time.Minute, func() { trouble = nil })
		if len(a.heard()) != 2 || len(b.heard()) != 4 || strings.Count(text.String(), "no database") != 1 ||
			strings.Count(text.String(), "can be read again") != 1 {
			t.Errorf("a has %d, b %d:\n%s", len(a.heard()), len(b.heard()), text)
		}
		stop(t, n)
	})
}

// A redirect could take the secrets elsewhere.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer elsewhere.Close()
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	log, text := logged()
	n := start(t, notify.Config{URL: server.URL, Logger: log})
	n.Notify()
	stop(t, n)
	if !strings.Contains(text.String(), "307 Temporary Redirect (redirects are not followed)") {
		t.Errorf("the log is:\n%s", text)
	}
}

func TestBadConfig(t *testing.T) {
	t.Parallel()
	log := logrus.New()
	log.SetOutput(io.Discard)
	for want, cfg := range map[string]notify.Config{
		"notify.Config.URL is not usable; use a URL such as":        {URL: "worker:80/secret"},
		`notify.Config.Method is "PO ST"`:                           {URL: "http://w", Method: "PO ST"},
		`notify.Config.Header is not usable for "X-A"`:              {URL: "http://w", Header: http.Header{"X-A": {"secret\n"}}},
		"notify.Config.Timeout is -1s":                              {URL: "http://w", Timeout: -time.Second},
		"notify.Config.Retries is 101; use 0 to 100":                {URL: "http://w", Retries: 101},
		"notify.Config.RetryMax is 1s; use RetryMin (2s) to 1h0m0s": {URL: "http://w", RetryMin: 2 * time.Second, RetryMax: time.Second},
	} {
		_, err := notify.New(cfg)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}
