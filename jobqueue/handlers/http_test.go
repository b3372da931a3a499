package handlers_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/handlers"
)

// call makes a handler of an HTTP call.
func call(t *testing.T, cfg handlers.HTTPConfig) jobqueue.Handler {
	t.Helper()
	h, err := handlers.HTTP(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func serve(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server
}

func TestHTTPCall(t *testing.T) {
	t.Parallel()
	var r *http.Request
	var body []byte
	server := serve(t, func(w http.ResponseWriter, got *http.Request) {
		r = got
		body, _ = io.ReadAll(got.Body)
		_, _ = io.WriteString(w, "thank you")
	})
	h := call(t, handlers.HTTPConfig{
		URL: server.URL + "/hook?token=secret", Header: http.Header{"Authorization": {"Bearer x"}}, Client: server.Client(),
	})
	a := run(t.Context(), h, jobqueue.Job{JID: "j", Tracker: "nightly", Args: `{"n": 1}`})
	if a.err != nil || a.Result != "200 OK" || a.log[0] != "thank you" {
		t.Errorf("%v, result %q, log %q", a.err, a.Result, a.log)
	}
	if r.Method != http.MethodPost || r.URL.Path != "/hook" || string(body) != `{"n": 1}` {
		t.Errorf("%s %s %q", r.Method, r.URL, body)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer x", "Nextrun-Job-Id": "j", "Idempotency-Key": "j", "Nextrun-Handler": "t", "Nextrun-Task": "nightly", "Content-Type": "application/json",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("header %s is %q, want %q", name, got, want)
		}
	}
}

// A method that has no body sends none of the default args, and args of one's own with each.
func TestHTTPBodyFollowsTheMethod(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"GET", "HEAD", "DELETE", "POST", "PUT", "PATCH"} {
		var body, kind, length string
		server := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			body, kind, length = string(text), r.Header.Get("Content-Type"), r.Header.Get("Content-Length")
		})
		h := call(t, handlers.HTTPConfig{Method: method, URL: server.URL})
		bodiless := !strings.HasPrefix(method, "P")
		if a := run(t.Context(), h, jobqueue.Job{Args: "{}"}); a.err != nil || (body == "") != bodiless || (kind == "") != bodiless || bodiless && length != "" {
			t.Errorf("%s of the default args: %q of type %q and length %q, %v", method, body, kind, length, a.err)
		}
		if a := run(t.Context(), h, jobqueue.Job{Args: `{"n": 1}`}); a.err != nil || body != `{"n": 1}` || kind != "application/json" {
			t.Errorf("%s: %q of type %q, %v", method, body, kind, a.err)
		}
	}
}

func TestHTTPStatusDecides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		after  string // Retry-After
		final  bool
		delay  time.Duration
	}{
		{http.StatusServiceUnavailable, "", false, 0},
		{http.StatusTooManyRequests, "1000", false, 1000 * time.Second},
		{http.StatusTooManyRequests, "99999999999", false, 1000 * time.Second},
		{http.StatusNotFound, "", true, 0},
		{http.StatusFound, "", true, 0},
	} {
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", c.after)
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(c.status)
		})
		err := run(t.Context(), call(t, handlers.HTTPConfig{URL: server.URL + "/?token=secret"}), jobqueue.Job{}).err
		var asked service.DelayedError
		if errors.As(err, &asked); err == nil || jobqueue.IsPermanent(err) != c.final || asked.Delay < c.delay || strings.Contains(err.Error(), "secret") {
			t.Errorf("%d: %v, permanent: %t, again after %s", c.status, err, jobqueue.IsPermanent(err), asked.Delay)
		}
	}
}

// A server that reports its progress is heard to the end of its work, and the log has both ends of what it said.
func TestHTTPAttemptEndsWithTheAnswer(t *testing.T) {
	t.Parallel()
	var done atomic.Bool
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for n := range 100 {
			_, _ = fmt.Fprintf(w, "row %d of 100 %s\n", n+1, strings.Repeat(".", 1000))
			_ = http.NewResponseController(w).Flush()
		}
		done.Store(true)
	})
	a := run(t.Context(), call(t, handlers.HTTPConfig{URL: server.URL}), jobqueue.Job{})
	if a.err != nil || a.Result != "200 OK" || !done.Load() {
		t.Errorf("%v, result %q; done: %t", a.err, a.Result, done.Load())
	}
	log := strings.Join(a.log, "\n")
	for _, want := range []string{"row 1 of 100", "row 100 of 100", "bytes of the answer are left out here"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not have %q: %q", want, log)
		}
	}
	if len(log) > 17<<10 {
		t.Errorf("the log has %d bytes of the answer", len(log))
	}
}

// answered is a transport that calls a function when the head of an answer is there.
type answered func()

func (f answered) RoundTrip(r *http.Request) (*http.Response, error) {
	defer f()
	return http.DefaultTransport.RoundTrip(r)
}

// An answer of 200 that does not come to its end is no success, whatever ends it.
func TestHTTPAnswerThatIsCutIsNoSuccess(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{io.ErrUnexpectedEOF, jobqueue.ErrTimeout, jobqueue.ErrCancelled, jobqueue.ErrShutdown} {
		server := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "row 1 of 100\n")
			_ = http.NewResponseController(w).Flush()
			if errors.Is(cause, io.ErrUnexpectedEOF) {
				panic(http.ErrAbortHandler)
			}
			<-r.Context().Done()
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		cfg := handlers.HTTPConfig{URL: server.URL, Timeout: time.Hour, Client: &http.Client{Transport: answered(func() {
			if cause != io.ErrUnexpectedEOF { //nolint:errorlint // it is that one
				cancel(cause)
			}
		})}}
		a := run(ctx, call(t, cfg), jobqueue.Job{})
		cancel(nil)
		if a.err == nil || jobqueue.IsPermanent(a.err) || a.Result != "" || !strings.Contains(a.err.Error(), "answered 200 OK, but not to its end") {
			t.Errorf("%v: the attempt ended with %v, result %q, log %q", cause, a.err, a.Result, a.log)
		}
	}
}

func TestHTTPConfigIsChecked(t *testing.T) {
	t.Parallel()
	for _, cfg := range []handlers.HTTPConfig{{}, {URL: "relative/path"}, {URL: "ftp://host/"}, {URL: "http://host", Method: "BAD METHOD"},
		{URL: "http://host", Header: http.Header{"X-Key": {"with a line end\n"}}}} {
		if _, err := handlers.HTTP(cfg); err == nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
}

// A receiver that repeats the request brings no configured value into the log.
func TestHTTPAnswerThatRepeatsTheRequest(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		for range 300 { // the cuts fall into what is repeated
			_, _ = io.WriteString(w, "seen: "+r.URL.RequestURI()+" ")
			_ = r.Header.Write(w)
		}
	})
	a := run(t.Context(), call(t, handlers.HTTPConfig{
		URL:    strings.Replace(server.URL, "//", "//user:s3cret-password@", 1) + "/services/s3cret-path?token=s3cret-token",
		Header: http.Header{"X-Key": {"s3cret-key"}, "Content-Type": {"text/plain"}}, Client: server.Client(),
	}), jobqueue.Job{})
	if a.err == nil {
		t.Fatal("a status of 500 is a success")
	}
	log := strings.Join(a.log, "\n") + a.Result + a.err.Error()
	basic := base64.StdEncoding.EncodeToString([]byte("user:s3cret-password"))
	if !strings.Contains(log, "seen: xxxxx?xxxxx") || strings.Contains(log, "s3cret") || strings.Contains(log, basic[:10]) {
		t.Errorf("log %q", strings.ReplaceAll(log, "xxxxxxxxxxxxxxxx", ""))
	}
}

func TestHTTPJobThatNoHeaderCanHold(t *testing.T) {
	t.Parallel()
	err := run(t.Context(), call(t, handlers.HTTPConfig{URL: "http://127.0.0.1:1/"}), jobqueue.Job{JID: "a\r\nX-Forged: 1"}).err
	if !jobqueue.IsPermanent(err) || !strings.Contains(err.Error(), "header cannot hold") {
		t.Errorf("got %v", err)
	}
}
