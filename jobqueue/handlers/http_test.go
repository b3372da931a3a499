package handlers_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/handlers"
)

func TestHTTPCall(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		requests := make(chan *http.Request, 1)
		bodies := make(chan string, 1)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			requests <- r
			bodies <- string(body)
			_, _ = io.WriteString(w, "thank you")
		}))
		defer server.Close()
		h, err := handlers.HTTP(handlers.HTTPConfig{
			URL: server.URL + "/hook?token=secret", Header: http.Header{"Authorization": {"Bearer x"}},
			Client: server.Client(),
		})
		if err != nil {
			t.Fatal(err)
		}
		q.run(executor.Config{}, map[string]jobqueue.Handler{"t": h})
		jid := q.submit(jobqueue.Job{Task: "t", Tracker: "nightly", Args: `{"n": 1}`})
		r := receive(q, requests, "the call")
		if r.Method != http.MethodPost || r.URL.Path != "/hook" || r.Header.Get("Authorization") != "Bearer x" ||
			r.Header.Get("Nextrun-Job-Id") != jid || r.Header.Get("Nextrun-Handler") != "t" || r.Header.Get("Nextrun-Task") != "nightly" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		if body := receive(q, bodies, "the body"); body != `{"n": 1}` {
			t.Errorf("body %q", body)
		}
		q.awaitEnd(jid, jobqueue.Success)
		if job, log := q.get(jid), q.log(jid); job.Result != "200 OK" || log[1] != "thank you" {
			t.Errorf("result %q, log %q", job.Result, log)
		}
	})
}

func TestHTTPStatusDecides(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			status, after, _ := strings.Cut(string(body), " ")
			w.Header().Set("Retry-After", after)
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(map[string]int{"503": 503, "429": 429, "404": 404, "302": 302, "204": 204}[status])
		}))
		defer server.Close()
		h, err := handlers.HTTP(handlers.HTTPConfig{URL: server.URL + "/?token=secret"})
		if err != nil {
			t.Fatal(err)
		}
		defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		q.run(executor.Config{RetryDelay: time.Second, RetryCap: time.Hour}, map[string]jobqueue.Handler{"t": h})
		for args, want := range map[string]jobqueue.State{
			"503": jobqueue.Stuck, "429 1000": jobqueue.Stuck, "429 99999999999": jobqueue.Stuck, "404": jobqueue.Failed, "302": jobqueue.Failed, "204": jobqueue.Success,
		} {
			jid := q.submit(jobqueue.Job{Task: "t", Args: args})
			q.awaitEnd(jid, want)
			job := q.get(jid)
			if strings.Contains(job.Result+strings.Join(q.log(jid), ""), "secret") {
				t.Errorf("%s: the query is shown: %q", args, job.Result)
			}
			if strings.HasPrefix(args, "429 ") && time.Until(job.Retry) < 900*time.Second {
				t.Errorf("tried again at %s", job.Retry)
			}
		}
	})
}

func TestHTTPConfigIsChecked(t *testing.T) {
	for _, cfg := range []handlers.HTTPConfig{{}, {URL: "relative/path"}, {URL: "ftp://host/"}, {URL: "http://host", Method: "BAD METHOD"},
		{URL: "http://host", Header: http.Header{"X-Key": {"with a line end\n"}}}} {
		if _, err := handlers.HTTP(cfg); err == nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
}

// A receiver that repeats the request brings no configured value into the log.
func TestHTTPAnswerThatRepeatsTheRequest(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, "seen: "+r.URL.RequestURI()+" "+strings.Repeat("x", 16<<10-60))
			_ = r.Header.Write(w)
		}))
		defer server.Close()
		h, err := handlers.HTTP(handlers.HTTPConfig{
			URL:    strings.Replace(server.URL, "//", "//user:s3cret-password@", 1) + "/?token=s3cret-token",
			Header: http.Header{"X-Key": {"s3cret-key"}, "Content-Type": {"text/plain"}}, Client: server.Client(),
		})
		if err != nil {
			t.Fatal(err)
		}
		q.run(executor.Config{RetryLimit: executor.Never}, map[string]jobqueue.Handler{"t": h})
		jid := q.submit(jobqueue.Job{Task: "t"})
		q.awaitEnd(jid, jobqueue.Failed)
		log := strings.Join(q.log(jid), "\n") + q.get(jid).Result
		basic := base64.StdEncoding.EncodeToString([]byte("user:s3cret-password"))
		if !strings.Contains(log, "seen: /?xxxxx") || strings.Contains(log, "s3cret") || strings.Contains(log, basic[:10]) {
			t.Errorf("log %q", strings.ReplaceAll(log, "xxxxxxxxxxxxxxxx", ""))
		}
	})
}

func TestHTTPJobThatNoHeaderCanHold(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		h, err := handlers.HTTP(handlers.HTTPConfig{URL: "http://127.0.0.1:1/"})
		if err != nil {
			t.Fatal(err)
		}
		q.run(executor.Config{RetryDelay: 1, RetryLimit: 3}, map[string]jobqueue.Handler{"t": h})
		jid := "a\r\nX-Forged: 1"
		q.submit(jobqueue.Job{Task: "t", JID: jid})
		q.awaitEnd(jid, jobqueue.Failed)
		if job := q.get(jid); job.Retries != 0 || !strings.Contains(job.Result, "header cannot hold") {
			t.Errorf("%d retries, result %q", job.Retries, job.Result)
		}
	})
}
