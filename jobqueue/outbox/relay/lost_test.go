package relay_test

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
	"github.com/nextrun/nextrun/ops/verify"
)

// The receiver of this test fails at random, sometimes after it has taken the
// event, and is down for a while. Relays that are killed have crash points.
func TestNoEventIsLost(t *testing.T) {
	both(t, func(f *fixture) {
		r := newReceiver()
		server := httptest.NewServer(r.handler(f))
		f.Cleanup(server.Close)
		want := f.append(append(events("a", 60), events("b", 60)...)...)

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
			f.Error("no event came twice, though the receiver took some that it said it had not")
		}
		migrated.Verify(f, f.db, verify.Options{})
	})
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
