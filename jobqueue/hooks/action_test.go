package hooks_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
)

func notice(e hooks.Event) hooks.Notice {
	return hooks.Notice{ID: "e1", Hook: "on_failure", Event: e, At: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Task: "nightly",
		Handler: "backup", Tick: &hooks.Tick{Due: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)},
		Job: &hooks.Job{ID: "j1", State: "failed", Attempt: 2}, Error: "exit status 2\nmore", Output: "no space left"}
}

// do has an action do its work, as the job of a hook.
func do(t *testing.T, a *hooks.Action, n hooks.Notice) (said jobqueue.Record, err error) {
	t.Helper()
	args, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	job := jobqueue.NewJobContext(jobqueue.Job{JID: n.ID, Task: jobqueue.HookHandler, Args: string(args)})
	err = hooks.Hooks{All: hooks.Set{hooks.OnFailure: a}}.Handler(nil)(t.Context(), job)
	return job.Record(), err
}

// A command gets the notice on standard input, its main parts as variables, and no
// secrets of nextrun. What it says goes to the log of the hook's job.
func TestCommandOfAHook(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "out")
	command, err := hooks.Command(handlers.CommandConfig{
		Argv: []string{"sh", "-c", `{ cat; echo; echo "$NEXTRUN_EVENT|$NEXTRUN_HOOK|$NEXTRUN_EVENT_ID|$NEXTRUN_ERROR|$NEXTRUN_TASK|$NEXTRUN_JOB_ID|$OWN|$HOME"; } >"$0"; echo done`, file},
		Env:  []string{"OWN=x"}, Without: []string{"HOME"},
	})
	if err != nil {
		t.Fatal(err)
	}
	said, err := do(t, command, notice(hooks.Failure))
	if err != nil || len(said.Lines) != 1 || said.Lines[0].Message != "done" {
		t.Errorf("%v; the log is %+v", err, said.Lines)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"event":"failure"`, `"task":"nightly"`, `"output":"no space left"`, "failure|on_failure|e1|exit status 2|nightly|j1|x|\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}

type request struct {
	path, body string
	header     http.Header
}

// server answers with a status, and notes what it is asked.
func server(t *testing.T, status int) (url string, requests <-chan request) {
	t.Helper()
	noted := make(chan request, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		noted <- request{r.Method + " " + r.URL.String(), string(body), r.Header}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "nothing at "+r.URL.String())
	}))
	t.Cleanup(s.Close)
	return s.URL, noted
}

// A URL is posted the notice, signed.
func TestPost(t *testing.T) {
	t.Parallel()
	url, requests := server(t, http.StatusNoContent)
	const secret = "raw:a key of more than 16 bytes"
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	post, err := hooks.Post(webhook.Config{URL: url + "/hook", Secrets: []string{secret}, Header: http.Header{"Authorization": {"Bearer x"}}, Transport: transport})
	if err == nil {
		_, err = do(t, post, notice(hooks.Failure))
	}
	if err != nil {
		t.Fatal(err)
	}
	r := <-requests
	if r.path != "POST /hook" || !strings.Contains(r.body, `"event":"failure"`) || r.header.Get("Content-Type") != "application/json" || r.header.Get("Authorization") != "Bearer x" {
		t.Errorf("got %+v", r)
	}
	if err := webhook.Verify(r.header, []byte(r.body), time.Now(), time.Minute, secret); err != nil {
		t.Error(err)
	}
}

// A switch hears of success and failure.
func TestPing(t *testing.T) {
	t.Parallel()
	url, requests := server(t, http.StatusOK)
	ping, err := hooks.Ping(url + "/uuid?a=b")
	if err != nil {
		t.Fatal(err)
	}
	for event, want := range map[hooks.Event]string{
		hooks.Success: "POST /uuid?a=b", hooks.Failure: "POST /uuid/fail?a=b",
	} {
		if _, err := do(t, ping, notice(event)); err != nil {
			t.Error(err)
		}
		if r := <-requests; r.path != want || r.body != "no space left" {
			t.Errorf("%s: %q with %q", event, r.path, r.body)
		}
	}
}

// No error shows a part of a URL that may be secret, whatever the receiver answers.
func TestErrorsHideURLs(t *testing.T) {
	t.Parallel()
	const token = "/services/T0KEN12345?key=s3cr3t-key"
	up, _ := server(t, http.StatusNotFound)
	down := httptest.NewServer(http.NotFoundHandler())
	down.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for _, base := range []string{up, down.URL} {
		post, err1 := hooks.Post(webhook.Config{URL: base + token, Transport: transport})
		ping, err2 := hooks.Ping(base + token)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		for _, action := range []*hooks.Action{post, ping} {
			said, err := do(t, action, notice(hooks.Failure))
			if err == nil || strings.Contains(err.Error(), "T0KEN12345") || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("got %v", err)
			}
			if log := fmt.Sprint(said); strings.Contains(log, "T0KEN12345") || strings.Contains(log, "s3cr3t") {
				t.Errorf("the log of the hook's job: %s", log)
			}
			if refused := jobqueue.IsPermanent(err); refused != (base == up) {
				t.Errorf("refused: %t: %v", refused, err)
			}
		}
	}
	_, ftp := hooks.Ping("ftp://x" + token)
	for _, err := range []error{webhook.Config{URL: "ftp://x" + token}.Validate(), ftp} {
		if err == nil || strings.Contains(err.Error(), "T0KEN12345") {
			t.Errorf("got %v", err)
		}
	}
}
