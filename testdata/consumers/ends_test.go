package consumers_test

import (
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// ending is how the jobs of a queue end, and what nextrun says of that: the outcome, the attempts
// and the error in the tick of each task.
type ending struct {
	queue
	cancelledStays bool   // its row is still there
	cancel, remove string // statements about the job with a jid
	want           map[string]string
}

// proveEnds has jobs succeed, fail for good, succeed after two attempts, be cancelled and be deleted,
// and others end while no scheduler runs. Two schedulers watch, and are killed. What becomes of each
// job is in its tick; `why`, `task list`, the views, metrics and the dashboard say it, and a hook and a ping hear of
// it once.
func proveEnds(t *testing.T, e ending) {
	t.Helper()
	t.Parallel()
	f := newFixture(t, e.queue)
	told := filepath.Join(t.TempDir(), "told")
	tell := fmt.Sprintf("{command: [/bin/sh, -c, 'echo $NEXTRUN_EVENT $NEXTRUN_TASK >> %s']}", told)
	config, err := os.ReadFile(f.config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.config, append(config, "on_failure: "+tell+"\non_success: "+tell+"\n"+f.pings(e)...), 0o600); err != nil {
		t.Fatal(err)
	}
	f.startScheduler("one")
	f.startScheduler("two")
	add := func(id, args string) {
		f.Exec(`INSERT INTO periodic_task (id, task, args, timer, sink, retry_limit, nextrun) VALUES (?, 'proof', ?, 'yearly', ?, ?, '2026-01-02 03:04:05.000000')`,
			id, args, e.sink, map[bool]int{true: 0, false: 3}[id == "fails"])
	}
	add("works", `{"ms": 10}`)
	add("fails", `{"fail": "no space left"}`)
	add("twice", `{"fail": "a blip", "until": 2}`)
	add("cancelled", `{}`)
	add("deleted", `{}`)
	storetest.Eventually(t, "five jobs", func() bool { return f.One("SELECT count(*) FROM periodic_open") == "5" })
	f.Exec(e.cancel, f.jobOf("cancelled"))
	f.Exec(e.remove, f.jobOf("deleted"))
	f.startWorker()
	ended := func(n int) func() bool {
		return func() bool {
			return f.One("SELECT count(*) FROM periodic_tick WHERE outcome IS NOT NULL") == fmt.Sprint(n)
		}
	}
	storetest.Eventually(t, "the ends of five jobs", ended(5))

	add("unseen", `{"ms": 1500}`)
	storetest.Eventually(t, "a job that runs", func() bool {
		return slices.ContainsFunc(f.work.all(), func(w work) bool { return w.args.MS == 1500 })
	})
	f.kill("one")
	f.kill("two")
	storetest.Eventually(t, "its end", func() bool {
		return slices.ContainsFunc(f.work.all(), func(w work) bool { return w.args.MS == 1500 && !w.done.IsZero() })
	})
	metrics, dashboard := freeAddress(t), freeAddress(t)
	f.startScheduler("three", "--metrics", metrics, "--dashboard", dashboard)
	storetest.Eventually(t, "the end that no scheduler saw", ended(6))
	e.want["unseen"] = e.want["works"]
	var events []string
	for id, want := range e.want {
		f.Want(want, `SELECT outcome || ' ' || coalesce(attempts, 0) || ' ' || coalesce(error, '') FROM periodic_tick WHERE task_id = ?`, id)
		outcome, _, _ := strings.Cut(want, " ")
		f.Want(strings.Replace(outcome, "gone", "success", 1), "SELECT last_state FROM periodic_health WHERE id = ?", id)
		switch outcome {
		case "success", "gone":
			events = append(events, "success "+id)
		case "failed":
			events = append(events, "failure "+id)
		}
	}
	f.Want(6, "SELECT count(*) FROM periodic_tick WHERE finished IS NOT NULL")
	f.Want("no space left", "SELECT last_error FROM periodic_health WHERE id = 'fails'")
	if why := f.output(f.nextrun("why", "fails")); !strings.Contains(why, "state: failed") && !strings.Contains(why, "failed") || !strings.Contains(why, "no space left.") {
		t.Errorf("why says %s", why)
	}
	list := f.output(f.nextrun("task", "list"))
	for id, want := range e.want {
		outcome, _, _ := strings.Cut(want, " ")
		if outcome == "success" {
			outcome = "ok"
		}
		if i := strings.Index(list, "\n"+id+" "); i < 0 || strings.Fields(list[i:])[1] != outcome {
			t.Errorf("%s should be %s in\n%s", id, outcome, list)
		}
	}
	f.shown(e, metrics, dashboard)
	slices.Sort(events)
	var heard []string
	storetest.Eventually(t, "the hooks", func() bool {
		text, _ := os.ReadFile(told) //nolint:errcheck // it is not there yet
		heard = strings.Split(strings.TrimSpace(string(text)), "\n")
		slices.Sort(heard)
		return slices.Equal(slices.Compact(slices.Clone(heard)), events)
	})
	if len(heard) != len(events) { // a killed relay may deliver again, but none was killed while one delivered
		t.Logf("the hooks heard %q", heard)
	}
	f.Want(2*len(events), "SELECT count(*) FROM job WHERE task = 'nextrun.hook'")
	storetest.Eventually(t, "the pings", func() bool {
		got := f.pinged()
		slices.Sort(got)
		want := slices.Clone(events)
		for i := range want {
			kind, id, _ := strings.Cut(want[i], " ")
			want[i] = "/" + id + map[string]string{"failure": "/fail"}[kind]
		}
		slices.Sort(want)
		return slices.Equal(slices.Compact(got), want)
	})
	f.putBack(e)
	f.stop("three")
}

// putBack puts jobs back that failed and that were cancelled. They end anew.
func (f *fixture) putBack(e ending) {
	f.Helper()
	if e.cancelledStays { // else its row is gone
		f.output(f.nextrun("job", "retry", f.jobOf("cancelled")))
		storetest.Eventually(f, "the job that was cancelled", func() bool {
			return f.One("SELECT outcome FROM periodic_tick WHERE task_id = 'cancelled'") == "success"
		})
	}
	f.output(f.nextrun("job", "retry", f.jobOf("fails")))
	storetest.Eventually(f, "the job that failed", func() bool {
		return f.One("SELECT outcome FROM periodic_tick WHERE task_id = 'fails'") == "failed" // it was NULL meanwhile
	})
	f.Want(0, "SELECT count(*) FROM periodic_open")
	for id, want := range map[string]string{
		"works": "only one that failed or was cancelled can be put back", "deleted": "can be put back",
	} {
		if said, err := f.nextrun("job", "retry", f.jobOf(id)).CombinedOutput(); err == nil || !strings.Contains(string(said), want) {
			f.Errorf("job retry of %s: %v, %s", id, err, said)
		}
	}
}

// jobOf is the id of the job of a task.
func (f *fixture) jobOf(id string) string {
	f.Helper()
	return f.One("SELECT jid FROM periodic_tick WHERE task_id = ?", id)
}

// pings are the settings of a ping for each task.
func (f *fixture) pings(e ending) string {
	var heard []string
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, r.URL.Path)
	}))
	f.Cleanup(server.Close)
	f.pinged = func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(heard)
	}
	settings := "tasks:\n  unseen: {ping: \"" + server.URL + "/unseen\"}\n"
	for id := range e.want {
		settings += "  " + id + ": {ping: \"" + server.URL + "/" + id + "\"}\n"
	}
	return settings
}

// shown compares what a program or a person sees who looks at the scheduler.
func (f *fixture) shown(e ending, metrics, dashboard string) {
	f.Helper()
	var figures string
	storetest.Eventually(f, "the metrics", func() bool {
		figures = get(f, "http://"+metrics+"/metrics")
		return strings.Contains(figures, "nextrun_task_failures{")
	})
	for id, want := range e.want {
		outcome, _, _ := strings.Cut(want, " ")
		failures, succeeded := 0, outcome == "success" || outcome == "gone"
		if outcome == "failed" {
			failures = 1
		}
		if line := fmt.Sprintf("nextrun_task_failures{task=%q} %d\n", id, failures); !strings.Contains(figures, line) {
			f.Errorf("the metrics lack %s", line)
		}
		if never := strings.Contains(figures, fmt.Sprintf("nextrun_task_last_success_timestamp_seconds{task=%q} 0\n", id)); never == succeeded {
			f.Errorf("%s ended as %s, and its last success is never: %v", id, outcome, never)
		}
		page := get(f, "http://"+dashboard+"/task?id="+id)
		said := strings.SplitN(want, " ", 3)[2]
		if outcome == "gone" {
			outcome = "success"
		}
		if !strings.Contains(page, outcome) || !strings.Contains(page, html.EscapeString(said)) {
			f.Errorf("the page of %s does not say %q and %q", id, outcome, said)
		}
		if strings.Contains(page, "/job?id=") || (outcome == "failed" || outcome == "cancelled") != strings.Contains(page, "nextrun job retry ") {
			f.Errorf("the page of %s leads to a page of nextrun's own job, or does not say how to put its job back:\n%s", id, page)
		}
		stale := "0"
		if !succeeded {
			stale = "1"
		}
		f.Want(stale, "SELECT count(*) FROM periodic_stale WHERE id = ?", id)
	}
	if line := fmt.Sprintf("nextrun_sink_jobs_total{outcome=%q,sink=%q} 1\n", strings.Fields(e.want["unseen"])[0], e.sink); !strings.Contains(figures, line) {
		f.Errorf("the metrics lack %s", line)
	}
}

func get(t testing.TB, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "" // it does not listen yet
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// freeAddress is an address of this host at which nobody listens.
func freeAddress(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestRiverEnds(t *testing.T) {
	t.Parallel()
	for _, q := range []queue{riverPostgres, riverSQLite} {
		t.Run(q.database, func(t *testing.T) {
			const ours = " WHERE metadata->'nextrun'->>'jid' = ?"
			proveEnds(t, ending{
				queue: q, cancelledStays: true, cancel: "UPDATE river_job SET state = 'cancelled', finalized_at = CURRENT_TIMESTAMP" + ours, remove: "DELETE FROM river_job" + ours,
				want: map[string]string{
					"works": "success 1 ", "fails": "failed 1 no space left", "twice": "success 2 ", "cancelled": "cancelled 0 ",
					"deleted": "unknown 0 the queue does not have the job any more",
				},
			})
		})
	}
}

// Without the trigger a job that somebody removes cannot be told from one that has succeeded.
func TestGraphileWorkerEnds(t *testing.T) {
	const ours = "graphile_worker._private_jobs WHERE key LIKE '%' || ?"
	proveEnds(t, ending{
		queue: graphile, cancel: "SELECT graphile_worker.remove_job(key) FROM " + ours, remove: "DELETE FROM " + ours,
		want: map[string]string{"works": "gone 0 ", "fails": "failed 1 no space left", "twice": "gone 0 ", "cancelled": "gone 0 ", "deleted": "gone 0 "},
	})
}

func TestPgBossEnds(t *testing.T) {
	const ours = " WHERE id = CAST(? AS uuid)"
	proveEnds(t, ending{
		queue: pgBoss, cancelledStays: true, cancel: "UPDATE pgboss.job SET state = 'cancelled', completed_on = now()" + ours, remove: "DELETE FROM pgboss.job" + ours,
		want: map[string]string{
			"works": "success 1 ", "fails": "failed 1 no space left", "twice": "success 2 ", "cancelled": "cancelled 0 ",
			"deleted": "unknown 0 the queue does not have the job any more",
		},
	})
}
