package service_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// joex stands for a job executor of Docspell. It notes each request: method, path,
// how many jobs it finds in the database, and the header Authorization.
func joex(t *testing.T, s clitest.Shell) (url string, heard chan string) {
	t.Helper()
	d := storetest.At(t, s.Env["NEXTRUN_DB"])
	heard = make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var jobs int
		if err := d.SQL.Get(&jobs, "SELECT count(*) FROM job"); err != nil {
			t.Error(err)
		}
		heard <- strings.TrimSpace(fmt.Sprintf("%s %s %d %s", r.Method, r.URL.Path, jobs, r.Header.Get("Authorization")))
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

// An executor that does not answer costs a line in the log, and no job.
func TestJoexThatIsGone(t *testing.T) {
	t.Parallel()
	schema, err := os.ReadFile("../../../testdata/docspell/postgres.sql")
	if err != nil {
		t.Fatal(err)
	}
	d := storetest.New(t, storetest.Postgres)
	d.Exec(string(schema))
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	d.Exec(`INSERT INTO node (id, type, url, updated, created, not_found) VALUES ('joex1', 'joex', ?, now(), now(), 1)`, gone.URL)
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": d.URL, "NEXTRUN_NAME": "test"}}
	s.Must(t, "migrate", "up")
	b := s.Start(t, "scheduler")
	b.WaitFor("job submitted", "task=8Xp1-house-keeping")
	b.WaitFor("WARN", "cannot notify of new jobs", "url="+gone.URL+"/api/v1/notify", "connection refused")
	s.Submit(t, "housekeeping")
	d.Want(1, "SELECT count(*) FROM job WHERE tracker IS NULL AND task = 'housekeeping'")
}

// A queue's own request follows the commits of jobs to it. That of the queue job takes the place of the one to Docspell.
func TestConfiguredNotifications(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		url, heard := joex(t, s)
		s.Exec(t, `CREATE TABLE node (id varchar(254), type varchar(254), url varchar(254))`)
		s.Exec(t, `INSERT INTO node VALUES ('joex1', 'joex', '`+url+`')`)
		s.Exec(t, `CREATE TABLE mail (id varchar(254), kind varchar(254))`)
		s.Env["WAKE_TOKEN"] = "Bearer s3cret"
		s.Env["NEXTRUN_CONFIG"] = clitest.WriteFile(t, "nextrun.yaml", `
queues:
  job: {notify: {url: "`+url+`/job", method: PUT}}
  mail:
    type: sql
    enqueue: INSERT INTO mail (id, kind) SELECT jid, handler FROM nextrun_batch
    pending: SELECT o.jid FROM nextrun_open AS o JOIN mail AS m ON m.id = o.jid
    notify: {url: "`+url+`/mail", headers: {Authorization: "${WAKE_TOKEN}"}}
`)
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, nextrun, sink) VALUES ('m', 'digest', '*-*-* 00:00:00', '2026-01-01 00:00:00', 'mail')`)
		s.Must(t, "scheduler", "--once", "--beside-docspell")
		wantHeard(t, heard, "POST /mail 0 Bearer s3cret")
		s.Must(t, "task", "set", "m", "--overlap", "allow")
		s.Must(t, "task", "run", "m")
		wantHeard(t, heard, "POST /mail 0 Bearer s3cret")
		s.Submit(t, "housekeeping")
		wantHeard(t, heard, "PUT /job 1")
		s.Env["NEXTRUN_CONFIG"] = clitest.WriteFile(t, "nextrun.yaml", "queues: {job: {notify: false}}")
		s.Submit(t, "housekeeping")
		if len(heard) > 0 {
			t.Errorf("switched off the executor heard %q", <-heard)
		}
	})
}
