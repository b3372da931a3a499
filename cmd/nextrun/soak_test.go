package main_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/lib/pq"
	_ "github.com/mattn/go-sqlite3"

	"github.com/nextrun/nextrun/internal/storetest"
)

// Two schedulers and two executors, each a process of its own, share one
// database with tasks that are due every second, and one of the processes is
// killed (SIGKILL) again and again. The queries of G1 to G3 stay empty, every
// second of every task is accounted for, and every job ends.
//
// By default the run is short and the leases are 2 s; `make soak` sets
// NEXTRUN_SOAK_SECONDS and NEXTRUN_SOAK_TASKS, and leaves the leases at 30 s.
func TestProcessesAreKilled(t *testing.T) {
	t.Parallel()
	seconds, tasks := setting(t, "NEXTRUN_SOAK_SECONDS", 10), setting(t, "NEXTRUN_SOAK_TASKS", 60)
	binary := build(t)
	for _, kind := range []string{storetest.SQLite, storetest.Postgres} {
		t.Run(kind, func(t *testing.T) {
			if os.Getenv("NEXTRUN_SOAK_SECONDS") == "" {
				t.Parallel()
			}
			s := newSoak(t, binary, storetest.New(t, kind))
			s.insertTasks(tasks)
			s.run(tasks, time.Duration(seconds)*time.Second)
			s.check(tasks)
		})
	}
}

func setting(t *testing.T, name string, value int) int {
	t.Helper()
	if text := os.Getenv(name); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s is %q: %v", name, text, err)
		}
		return n
	}
	return value
}

func build(t *testing.T) string {
	t.Helper()
	binary, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// soak is a database with the processes that use it.
type soak struct {
	*testing.T
	binary, url string
	kind        string // sqlite or postgres
	config      string
	sql         *sql.DB
	processes   map[string]*exec.Cmd
	output      map[string]*output
}

func newSoak(t *testing.T, binary string, d *storetest.Database) *soak {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(receiver.Close)
	lease := ""
	if os.Getenv("NEXTRUN_SOAK_SECONDS") == "" {
		lease = "scheduler:\n  lease: 2s\nexecutor:\n  lease: 2s\n  heartbeat: 500ms\n  max_interrupts: 1000\n"
	}
	config := filepath.Join(t.TempDir(), "nextrun.yaml")
	text := lease + "handlers:\n  call:\n    http:\n      url: " + receiver.URL + "\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &soak{
		T: t, binary: binary, url: d.URL, kind: d.Kind, config: config, sql: d.SQL.DB,
		processes: map[string]*exec.Cmd{}, output: map[string]*output{},
	}
	if out, err := s.command("migrate", "up").CombinedOutput(); err != nil {
		t.Fatalf("migrate up: %v\n%s", err, out)
	}
	return s
}

func (s *soak) command(args ...string) *exec.Cmd {
	c := exec.Command(s.binary, args...)
	c.Env = append(os.Environ(), "NEXTRUN_DB="+s.url, "NEXTRUN_CONFIG="+s.config)
	return c
}

// insertTasks inserts tasks that are due every second; every other one may overlap.
func (s *soak) insertTasks(n int) {
	s.Helper()
	s.exec("DELETE FROM periodic_task")
	for i := range n {
		overlap := []string{"skip", "allow"}[i%2]
		s.exec(fmt.Sprintf("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('task-%d', 'call', '*:*:*', '%s')", i, overlap))
	}
}

func (s *soak) exec(statement string) {
	s.Helper()
	if _, err := s.sql.Exec(statement); err != nil {
		s.Fatalf("%s: %v", statement, err)
	}
}

func (s *soak) count(query string) (n int) {
	s.Helper()
	if err := s.sql.QueryRow(query).Scan(&n); err != nil {
		s.Fatalf("%s: %v", query, err)
	}
	return n
}

// run runs the four processes for a time, and kills one every other second. It goes on
// until each of the tasks has a tick.
func (s *soak) run(tasks int, duration time.Duration) {
	s.Helper()
	names := []string{"scheduler-1", "scheduler-2", "executor-1", "executor-2"}
	for _, name := range names {
		s.start(name)
	}
	s.Cleanup(func() { s.kill(names...) })
	random := rand.New(rand.NewPCG(1, uint64(duration)))
	kills := 0
	for end := time.Now().Add(duration); time.Now().Before(end); kills++ {
		s.wait(time.Second + time.Duration(random.IntN(2000))*time.Millisecond)
		victim := names[kills%len(names)]
		_ = s.processes[victim].Process.Kill()
		_ = s.processes[victim].Wait()
		s.start(victim)
	}
	s.Logf("%d processes were killed", kills)
	s.until("a tick of each task", func() bool {
		return s.count("SELECT count(DISTINCT task_id) FROM periodic_tick") == tasks
	})
	s.stop("scheduler-1", "scheduler-2")
	s.untilJobsEnd()
	s.stop("executor-1", "executor-2")
}

// untilJobsEnd waits until no job is pending, for as long as it takes while some end.
func (s *soak) untilJobsEnd() {
	s.Helper()
	pending := "SELECT count(*) FROM job WHERE state IN ('waiting', 'scheduled', 'running', 'stuck')"
	for left := s.count(pending); left > 0; {
		s.until("the end of a job", func() bool { return s.count(pending) < left })
		left = s.count(pending)
	}
}

// wait waits in real time: the processes are real.
func (s *soak) wait(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // other processes have the real clock

func (s *soak) start(name string) {
	s.Helper()
	command, _, _ := strings.Cut(name, "-")
	c := s.command(command, "--name", name)
	out := s.output[name]
	if out == nil {
		out = &output{}
		s.output[name] = out
	}
	out.again()
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		s.Fatal(err)
	}
	s.processes[name] = c
}

func (s *soak) kill(names ...string) {
	for _, name := range names {
		_ = s.processes[name].Process.Kill()
	}
}

// stop asks processes to end when they have started, and fails if one does not end well.
func (s *soak) stop(names ...string) {
	s.Helper()
	for _, name := range names {
		s.until("the start of "+name, s.output[name].hasStarted)
	}
	for _, name := range names {
		if err := s.processes[name].Process.Signal(syscall.SIGTERM); err != nil {
			s.Fatal(err)
		}
	}
	for _, name := range names {
		if err := s.processes[name].Wait(); err != nil {
			s.Errorf("%s: %v\n%s", name, err, s.output[name])
		}
	}
}

// check is the queries of G1 to G3.
func (s *soak) check(tasks int) {
	s.Helper()
	for name, query := range map[string]string{
		"G1, jobs of one tick": `SELECT count(*) FROM (SELECT tracker, due FROM job GROUP BY tracker, due HAVING count(*) > 1) AS d`,
		"G1, jobs without a tick": `SELECT count(*) FROM job WHERE NOT EXISTS
			(SELECT 1 FROM periodic_tick AS k WHERE k.task_id = job.tracker AND k.due = job.due AND k.jid = job.jid)`,
		"G2, ticks without their job": `SELECT count(*) FROM periodic_tick WHERE decision = 'submitted' AND NOT EXISTS
			(SELECT 1 FROM job WHERE job.jid = periodic_tick.jid)`,
		"marks":                     `SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL`,
		"jobs that did not succeed": `SELECT count(*) FROM job WHERE state <> 'success'`,
	} {
		if n := s.count(query); n != 0 {
			s.Errorf("%s: %d", name, n)
		}
	}
	if n := s.count("SELECT count(DISTINCT task_id) FROM periodic_tick"); n != tasks {
		s.Errorf("%d of %d tasks have ticks", n, tasks)
	}
	s.accounted()
	if out, err := s.command("verify").CombinedOutput(); err != nil {
		s.Errorf("nextrun verify: %v\n%s", err, out)
	}
	s.Logf("%d ticks, %d jobs", s.count("SELECT count(*) FROM periodic_tick"), s.count("SELECT count(*) FROM job"))
	if s.Failed() {
		for name, out := range s.output {
			s.Logf("%s:\n%s", name, out)
		}
	}
}

// accounted checks that the ticks of each task follow each other second by
// second (G2).
func (s *soak) accounted() {
	s.Helper()
	rows, err := s.sql.Query("SELECT task_id, due, until, missed FROM periodic_tick ORDER BY task_id, due")
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	next := map[string]time.Time{}
	for rows.Next() {
		var id string
		var due time.Time
		var until sql.NullTime
		var missed int
		if err := rows.Scan(&id, &due, &until, &missed); err != nil {
			s.Fatal(err)
		}
		if want, ok := next[id]; ok && !due.Equal(want) {
			s.Errorf("%s: the tick of %s is not accounted for", id, want)
		}
		last := due
		if until.Valid {
			last = until.Time
			if n := int(last.Sub(due)/time.Second) + 1; n != missed {
				s.Errorf("%s: %d ticks from %s to %s, recorded as %d", id, n, due, last, missed)
			}
		}
		next[id] = last.Add(time.Second)
	}
	if err := rows.Err(); err != nil {
		s.Fatal(err)
	}
}
