package notify_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/notify"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

func submitted(sink periodic.Sink) scheduler.Event {
	return scheduler.Event{Kind: scheduler.EventTick, Task: &periodic.Task{Sink: sink}, Tick: periodic.Tick{Decision: periodic.Submitted}}
}

// Only jobs of its own queue make a notifier send.
func TestObserve(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &consumer{status: http.StatusOK}
		n := start(t, notify.Config{Sink: "legacy", URL: "http://worker/wake", Transport: c, Header: http.Header{"X-Token": {"secret"}}})
		skipped := submitted("legacy")
		skipped.Tick.Decision = periodic.Skipped
		for _, e := range []scheduler.Event{{Kind: scheduler.EventBatch}, skipped, submitted(periodic.SinkJob)} {
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
			pass(10 * time.Millisecond)
		}
		pass(time.Minute)
		if got := len(c.heard()); got != 2 {
			t.Errorf("requests: %d, want 2", got)
		}
		stop(t, n)
	})
}

// A request that failed is not retried. An outage is logged when it begins and when it ends, without secrets.
func TestOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, text := logged()
		c := &consumer{}
		n := start(t, notify.Config{
			URL: "http://user:pass-word@worker/wake?token=s3cret", Transport: c, Logger: log,
			Header: http.Header{"Authorization": {"Bearer t0ken"}},
		})
		n.Notify()
		pass(time.Minute)
		at := c.heard()
		if len(at) != 1 {
			t.Fatalf("attempts at %v, want one", at)
		}
		c.set(http.StatusServiceUnavailable, 0)
		n.Notify()
		pass(time.Minute)
		c.set(http.StatusOK, 0)
		n.Notify()
		pass(time.Minute)
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
