package service_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// joex stands for a job executor of Docspell. It notes each request: method, path
// and how many jobs it finds in the database.
func joex(t *testing.T, s clitest.Shell) (url string, heard chan string) {
	t.Helper()
	d := storetest.At(t, s.Env["NEXTRUN_DB"])
	heard = make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var jobs int
		if err := d.SQL.Get(&jobs, "SELECT count(*) FROM job"); err != nil {
			t.Error(err)
		}
		heard <- fmt.Sprintf("%s %s %d", r.Method, r.URL.Path, jobs)
	}))
	t.Cleanup(server.Close)
	return server.URL, heard
}

func wantHeard(t *testing.T, heard <-chan string, want string) {
	t.Helper()
	select {
	case got := <-heard:
		if got != want {
			t.Errorf("the executor heard %q, want %q", got, want)
		}
	case <-time.After(storetest.Patience):
		t.Fatalf("the executor did not hear %q", want)
	}
}

// On Docspell's database its executors hear of new jobs, after the commit, whoever submits them.
func TestJoexHearsOfJobs(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		url, heard := joex(t, s)
		s.Exec(t, `CREATE TABLE node (id varchar(254), type varchar(254), url varchar(254), not_found integer)`)
		s.Exec(t, `INSERT INTO node VALUES ('joex1', 'joex', '`+url+`/', 0), ('rest1', 'restserver', '`+url+`/rest', 0)`)
		b := s.Start(t, "scheduler", "--beside-docspell")
		b.WaitFor("started")
		s.Must(t, "task", "add", "later", "--handler", "housekeeping", "--timer", "2099-01-01", "--disabled", "--overlap", "allow")
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('now', 'housekeeping', '*-*-* 00:00:00', '2026-01-01 00:00:00')`)
		wantHeard(t, heard, "POST /api/v1/notify 1")
		s.Must(t, "task", "run", "later")
		wantHeard(t, heard, "POST /api/v1/notify 2")
		b.Stop()
		b.WaitFor("stopped")
		jid := s.Submit(t, "housekeeping")
		wantHeard(t, heard, "POST /api/v1/notify 3")
		s.Exec(t, `UPDATE job SET state = 'failed' WHERE jid = '`+jid+`'`)
		s.Must(t, "job", "retry", jid)
		wantHeard(t, heard, "POST /api/v1/notify 3")
		s.Must(t, "task", "set", "later", "--timer", "daily")
		s.Says(t, ui.Done, "task backfill later --from 2026-03-01 --to 2026-03-02", "submitted: 1")
		wantHeard(t, heard, "POST /api/v1/notify 4")
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('once', 'housekeeping', '*-*-* 00:00:00', '2026-01-01 00:00:00')`)
		s.Must(t, "scheduler", "--once", "--beside-docspell")
		wantHeard(t, heard, "POST /api/v1/notify 5")
		if len(heard) > 0 {
			t.Errorf("in the end the executor heard %q", <-heard)
		}
	})
}

// A URL of the configuration takes the place of Docspell's executors, and none of both.
func TestConfiguredNotifications(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		url, heard := joex(t, s)
		s.Exec(t, `CREATE TABLE node (id varchar(254), type varchar(254), url varchar(254))`)
		s.Exec(t, `INSERT INTO node VALUES ('joex1', 'joex', '`+url+`')`)
		s.Env["WAKE_TOKEN"] = "s3cret"
		s.Env["NEXTRUN_CONFIG"] = clitest.WriteFile(t, "nextrun.yaml", `queues: {job: {notify: "`+url+`/job/${WAKE_TOKEN}"}}`)
		s.Submit(t, "housekeeping")
		wantHeard(t, heard, "POST /job/s3cret 1")
		s.Env["NEXTRUN_CONFIG"] = clitest.WriteFile(t, "nextrun.yaml", "queues: {job: {notify: none}}")
		s.Submit(t, "housekeeping")
		if len(heard) > 0 {
			t.Errorf("switched off the executor heard %q", <-heard)
		}
	})
}
