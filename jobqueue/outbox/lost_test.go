package outbox_test

import (
	"bufio"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/storetest"
	"github.com/nextrun/nextrun/internal/storetest/migrated"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
	"github.com/nextrun/nextrun/store/verify"
)

// The receiver of this test fails at random, sometimes after it has taken the
// event, is down for a while, and one relay is killed between publishing and
// recording.
func TestNoEventIsLost(t *testing.T) {
	both(t, func(f *fixture) {
		r := newReceiver()
		server := httptest.NewServer(r.handler(f))
		f.Cleanup(server.Close)
		want := f.append(append(events("a", 60), events("b", 60)...)...)

		f.killBetweenPublishingAndRecording(server.URL)
		f.want(0, `SELECT count(*) FROM outbox_message WHERE published IS NOT NULL`)
		r.set(func(r *receiver) { r.failing, r.lying = 0.2, 0.5 })
		for _, name := range []string{"one", "two"} {
			hook, err := webhook.New(webhook.Config{URL: server.URL, Mode: webhook.Binary})
			if err != nil {
				f.Fatal(err)
			}
			f.Cleanup(hook.Close)
			f.relay(hook, f.quick(name))
		}
		r.await(f, len(want)/2)
		r.set(func(r *receiver) { r.down = true })
		want = append(want, f.append(events("a", 20)...)...)
		f.awaitOne("1", `SELECT CASE WHEN max(attempts) >= 4 THEN 1 ELSE 0 END FROM outbox_message WHERE published IS NULL`)
		r.set(func(r *receiver) { r.down = false })
		r.await(f, len(want))
		f.awaitOne("0", `SELECT count(*) FROM outbox_message WHERE published IS NULL`)
		r.check(f, want)
		if r.repetitions() == 0 {
			f.Error("no event came twice: the killed relay's batch was not published again")
		}
		migrated.Verify(f, f.db, verify.Options{})
	})
}

// killBetweenPublishingAndRecording runs a relay in a process of its own, and
// kills it when it has published a batch that it has not recorded.
func (f *fixture) killBetweenPublishingAndRecording(receiverURL string) {
	f.Helper()
	self, err := os.Executable()
	if err != nil {
		f.Fatal(err)
	}
	process := exec.Command(self)
	process.Env = append(os.Environ(), victimVariable+"="+f.URL, receiverVariable+"="+receiverURL)
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err != nil {
		f.Fatal(err)
	}
	if err := process.Start(); err != nil {
		f.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_ = process.Process.Kill() // SIGKILL
	_ = process.Wait()
	if err != nil || !strings.HasPrefix(line, "published 10 <nil>") {
		f.Fatalf("the relay to kill said %q, %v", line, err)
	}
}

// awaitOne waits until a query returns a value.
func (f *fixture) awaitOne(want, query string) {
	f.Helper()
	storetest.Eventually(f, query+" is "+want, func() bool { return f.one(query) == want })
}

// handler is the receiver as an HTTP server.
func (r *receiver) handler(t testing.TB) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		e, err := readCloudEvent(request)
		if err != nil {
			t.Errorf("the receiver was sent what is no CloudEvent: %v", err)
		}
		switch err := r.receive(request.Context(), e); {
		case outbox.IsRefusal(err):
			w.WriteHeader(http.StatusUnprocessableEntity)
		case err != nil && rand.IntN(2) == 0:
			panic(http.ErrAbortHandler) // the connection breaks
		case err != nil:
			w.WriteHeader(http.StatusBadGateway)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
}
