package service_test

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// started is the line of a service all of whose parts have started.
var started = regexp.MustCompile(`INFO +started `)

// webOf starts a service that serves something, and returns where.
func webOf(t *testing.T, s clitest.Shell, what string, args ...string) (b *clitest.Background, address string) {
	t.Helper()
	b = s.Start(t, args...)
	for line := range b.Lines {
		if match := regexp.MustCompile(what + ` listening .*address=(\S*127\.0\.0\.1:\d+/?)`).FindStringSubmatch(line); match != nil {
			address = match[1]
		}
		if started.MatchString(line) && address != "" {
			return b, address
		}
	}
	t.Fatal("the process ended without a word about its " + what)
	return nil, ""
}

// fetch asks for a page, or sends a form, and returns the status and the body.
func fetch(t *testing.T, address, user string, form url.Values) (int, string) {
	t.Helper()
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if name, password, ok := strings.Cut(user, ":"); ok {
		r.SetBasicAuth(name, password)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func TestServiceShowsMetrics(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Env["NEXTRUN_CONFIG"] = clitest.WriteFile(t, "nextrun.yaml", "handlers: {write: {command: ['true']}}")
		b, address := webOf(t, s, "metrics", "serve", "--metrics", "127.0.0.1:0")
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('report', 'write', 'yearly', '2026-01-01 00:00:00')`)
		b.WaitFor("job ended", "report")
		for _, want := range []string{`nextrun_task_ticks_total{decision="submitted",task="report"} 1`, `nextrun_jobs_total{handler="write",outcome="success"} 1`,
			`nextrun_build_info{goversion="go1`, `go_goroutines`, "nextrun_healthy 1", "nextrun_log_lines_lost_total 0"} {
			storetest.Eventually(t, want, func() bool { // the job may end before its tick is counted
				_, body := fetch(t, address+"metrics", "", nil)
				return strings.Contains(body, want)
			})
		}
		b.Stop()
		b.WaitFor("stopped")
	})
}

func TestDashboardOfAService(t *testing.T) {
	t.Parallel()
	hash, err := bcrypt.GenerateFromPassword([]byte("s3cret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte("ada:"+string(hash)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := url.Values{"action": {"run"}, "id": {"report"}, "back": {"tasks"}}
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, enabled) VALUES ('report', 'echo', 'yearly', false)`)

		b, address := webOf(t, s, "dashboard", "dashboard", "--dashboard", "localhost:0", "--dashboard-prefix", "/apps")
		if code, body := fetch(t, address+"apps/tasks", "", nil); code != http.StatusOK || !strings.Contains(body, `href="/apps/task?id=report"><b>report</b></a>`) {
			t.Errorf("%d %s", code, body)
		}
		if code, _ := fetch(t, address+"tasks", "", run); code != http.StatusForbidden {
			t.Errorf("it may only read, but the status of an action is %d", code)
		}
		b.Stop()
		b.WaitFor("stopped")

		b, address = webOf(t, s, "dashboard", "dashboard", "--dashboard", "127.0.0.1:0", "--dashboard-actions", "--dashboard-users", users)
		for user, want := range map[string]int{"": 401, "ada:guess": 401, "ada:s3cret": 303} {
			if code, _ := fetch(t, address+"tasks", user, run); code != want {
				t.Errorf("%q: status %d, want %d", user, code, want)
			}
		}
		b.WaitFor("action", "Submitted: report.", "ada")
		b.Stop()
		b.WaitFor("stopped")
		s.Says(t, ui.Done, "job list", "report  echo")
	})
}

// Whoever reaches a dashboard may see what is in the rows.
func TestDashboardAsksWhoYouAre(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": storetest.SQLiteURL(t)}}
	s.Must(t, "migrate", "up")
	for want, args := range map[string]string{
		"for another address say who may see it":           "--dashboard 0.0.0.0:8320",
		"needs --dashboard-proxy NETWORK":                  "--dashboard 0.0.0.0:8320 --dashboard-user-header X-User",
		`--dashboard-proxy is "everybody"`:                 "--dashboard 0.0.0.0:8320 --dashboard-user-header X-User --dashboard-proxy everybody",
		"exclude each other":                               "--dashboard-users x --dashboard-user-header X-User",
		`NEXTRUN_METRICS is "9310"; use an address with a`: "--metrics 9310",
	} {
		s.Says(t, ui.WrongUsage, "dashboard "+args, want)
	}
	s.Says(t, ui.Failed, "dashboard --dashboard-users /no/such/file", "--dashboard-users /no/such/file: open")
	s.Says(t, ui.Failed, "dashboard --dashboard-prefix schedules", "Prefix is \"schedules\"; use a path that begins with /")
}

// Pages that the database answers too slowly say so, wait on two connections at most,
// and hold up no task.
func TestSlowPagesHoldUpNothing(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": d.URL, "NEXTRUN_NAME": "test"}}
	d.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('other', 'work', 'yearly')`)
	d.Exec(`INSERT INTO job (jid, task) VALUES ('old', 'work')`)
	b, address := webOf(t, s, "dashboard", "serve", "--dashboard", "127.0.0.1:0")

	// Pages read joblog; schedulers do not.
	tx := d.Hold("LOCK TABLE joblog")
	stop, said, asking := make(chan struct{}), make(chan string, 100), sync.WaitGroup{}
	for range 6 {
		asking.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				code, body := fetch(t, address+"run?job=old", "", nil)
				if code != http.StatusGatewayTimeout && code != http.StatusServiceUnavailable {
					t.Errorf("status %d: %s", code, body)
					return
				}
				select {
				case said <- body:
				default:
				}
			}
		})
	}
	most := 0
	waiting := func() int {
		var n int
		err := d.SQL.GetContext(t.Context(), &n, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'joblog'::regclass")
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, n)
		return n
	}
	storetest.Eventually(t, "two pages wait for the database", func() bool { return waiting() == 2 })
	d.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('report', 'work', 'yearly', '2026-01-01 00:00:00')`)
	b.WaitFor("job submitted", "report")
	storetest.Eventually(t, "a page has said that the database is slow", func() bool { waiting(); return len(said) > 0 })
	if body := <-said; !strings.Contains(body, "it took longer than 2 s to read this page") {
		t.Errorf("the page says %s", body)
	}
	close(stop)
	asking.Wait()
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	if most > 2 {
		t.Errorf("pages use %d connections", most)
	}
	if code, _ := fetch(t, address+"run?job=old", "", nil); code != http.StatusOK {
		t.Errorf("afterwards the status is %d", code)
	}
	b.Stop()
	b.WaitFor("stopped")
}
