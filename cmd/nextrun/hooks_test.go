package main_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// An executor that is killed after the end of a job and before its hooks are delivered
// loses none of them: another one delivers, as soon as the receiver is up.
func TestHooksOfAKilledExecutor(t *testing.T) {
	t.Parallel()
	binary := build(t)
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		var up atomic.Bool
		var mu sync.Mutex
		var got []string
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if !up.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			got = append(got, r.URL.Path+" "+string(body))
		}))
		t.Cleanup(receiver.Close)
		config := filepath.Join(t.TempDir(), "nextrun.yaml")
		write(t, config, `
on_failure: {url: "`+receiver.URL+`/T0KEN12345"}
handlers: {broken: {command: [sh, -c, "echo no space left >&2; exit 2"], retry_limit: 0}}
tasks: {nightly: {ping: "`+receiver.URL+`/ping"}}
`)
		nextrun(t, d.URL, ui.Done, "migrate", "up")
		p := startProcess(t, d.URL, binary, "executor", "--config", config)
		p.waitFor("INFO  started  ")
		nextrun(t, d.URL, ui.Done, "job", "submit", "broken", "--task", "nightly")
		storetest.Eventually(t, "attempts to deliver", func() bool {
			return d.One("SELECT count(*) FROM job WHERE task = 'nextrun.hook' AND state = 'stuck'") == "2"
		})
		p.signal(syscall.SIGKILL)
		p.end()
		d.Want("failed", "SELECT state FROM job WHERE task = 'broken'")
		up.Store(true)
		d.Exec("UPDATE job SET retry = submitted WHERE state = 'stuck'")
		startProcess(t, d.URL, binary, "executor", "--config", config).waitFor("INFO  started  ")
		storetest.Eventually(t, "delivery", func() bool { return d.One("SELECT count(*) FROM job WHERE state <> 'success'") == "1" })
		mu.Lock()
		defer mu.Unlock()
		all := strings.Join(got, "\n")
		for _, want := range []string{`/T0KEN12345 {"id":"`, `"error":"sh: exit status 2"`, "no space left", "/ping/fail "} {
			if !strings.Contains(all, want) {
				t.Errorf("%s is missing in\n%s", want, all)
			}
		}
		d.Want("0", "SELECT count(*) FROM job WHERE args LIKE '%T0KEN%' OR subject LIKE '%T0KEN%' OR result LIKE '%T0KEN%'")
		d.Want("0", "SELECT count(*) FROM joblog WHERE message LIKE '%T0KEN%'")
	})
}
