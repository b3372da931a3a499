package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/storetest"
)

const (
	maxMisfortunes = 10                     // at a time
	maxLateness    = 300 * time.Millisecond // of submissions, in the median; and added to that of jobs and events
	quiet          = 10 * time.Second       // without misfortunes, for comparison
)

// One row never holds up another (G5): while random rows are refused by triggers,
// locked, or in open transactions of somebody else, up to ten at a time, healthy
// tasks beside them go on second by second, and so do their jobs and topics.
//
// By default the run is short and looks only whether anything stands still;
// `make soak-isolation` sets NEXTRUN_SOAK_SECONDS and NEXTRUN_SOAK_TASKS, and
// then healthy work must also be on time. NEXTRUN_SOAK_SEED repeats a run.
func TestMisfortunesHoldUpNobodyElse(t *testing.T) {
	t.Parallel()
	binary := build(t)
	for _, kind := range []string{storetest.SQLite, storetest.Postgres} {
		t.Run(kind, func(t *testing.T) {
			if os.Getenv("NEXTRUN_SOAK_SECONDS") == "" {
				t.Parallel()
			}
			r := newReceiver(t)
			s := newSoak(t, binary, storetest.New(t, kind))
			s.write(r.config())
			tasks := setting(t, "NEXTRUN_SOAK_TASKS", 40)
			s.healthyTasks(tasks)
			s.troubleTriggers()
			s.start("serve-1")
			s.start("serve-2")
			t.Cleanup(func() { s.kill("serve-1", "serve-2") })
			s.until("a tick of each task", func() bool {
				return s.count("SELECT count(DISTINCT task_id) FROM periodic_tick") == tasks
			})
			if os.Getenv("NEXTRUN_SOAK_SECONDS") != "" {
				r.measure(true)
				s.wait(quiet)
				r.measure(false)
				r.compare()
			}
			s.misfortunes(time.Duration(setting(t, "NEXTRUN_SOAK_SECONDS", 8))*time.Second, r)
			s.stop("serve-1", "serve-2")
			s.healthy(tasks, r)
		})
	}
}

// healthyTasks inserts tasks that are due every second: every fifth emits events
// of a topic of its own.
func (s *soak) healthyTasks(n int) {
	s.Helper()
	s.exec("DELETE FROM periodic_task")
	for i := range n {
		sink, group := "job", "default"
		if i%5 == 0 {
			sink, group = "event", fmt.Sprintf("topic-%d", i)
		}
		s.exec(fmt.Sprintf(`INSERT INTO periodic_task (id, task, group_, args, timer, overlap, sink)
			VALUES ('healthy-%d', 'call', '%s', '"healthy"', '*:*:*', 'allow', '%s')`, i, group, sink))
	}
}

// misfortunes lets them happen for a time. Before that and after it nothing does.
func (s *soak) misfortunes(duration time.Duration, r *receiver) {
	s.Helper()
	seed := setting(s.T, "NEXTRUN_SOAK_SEED", int(time.Now().UnixNano()&0xffff))
	s.Logf("NEXTRUN_SOAK_SEED=%d", seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	candidates := slices.DeleteFunc(slices.Clone(misfortunes), func(m misfortune) bool { return m.postgres && s.kind == "sqlite" })
	type trouble struct {
		ends time.Time
		end  func()
	}
	var running []trouble
	settle := func(all bool) {
		running = slices.DeleteFunc(running, func(t trouble) bool {
			over := all || time.Now().After(t.ends)
			if over {
				t.end()
			}
			return over
		})
	}
	r.measure(true)
	begun := time.Now()
	for n := 0; time.Since(begun) < duration; n++ {
		if len(running) < maxMisfortunes {
			m := candidates[random.IntN(len(candidates))]
			if n < len(candidates) { // each of them once at least
				m = candidates[n]
			}
			s.Logf("%4.1f s: bad-%d: %s", time.Since(begun).Seconds(), n, m.name)
			end := s.befall(m, fmt.Sprintf("bad-%d", n))
			running = append(running, trouble{time.Now().Add(time.Duration(2+random.IntN(15)) * time.Second), end})
		}
		s.wait(time.Duration(random.IntN(600)) * time.Millisecond)
		settle(false)
	}
	s.notStalled(r)
	r.measure(false)
	settle(true)
	s.exec("UPDATE periodic_task SET enabled = false WHERE id LIKE 'bad-%'")
}

// notStalled waits, beside the misfortunes that are not over, until every healthy task was
// submitted for a time from now on, and until the receiver was called.
func (s *soak) notStalled(r *receiver) {
	s.Helper()
	now := time.Now().UTC().Format("2006-01-02 15:04:05.000000")
	s.until("a submission of each healthy task", func() bool {
		return s.count(`SELECT count(*) FROM periodic_task AS p WHERE p.id LIKE 'healthy-%' AND NOT EXISTS (
			SELECT 1 FROM periodic_tick AS k WHERE k.task_id = p.id AND k.decision = 'submitted' AND k.due > '`+now+`')`) == 0
	})
	s.until("calls of jobs and of events", r.called)
}

// healthy checks the record and the times of the healthy tasks.
func (s *soak) healthy(tasks int, r *receiver) {
	s.Helper()
	s.accounted()
	for name, query := range map[string]string{
		"G1, jobs of one tick": `SELECT count(*) FROM (SELECT tracker, due FROM job WHERE due IS NOT NULL
			GROUP BY tracker, due HAVING count(*) > 1) AS d`,
		"G3, jobs that overlap": `SELECT count(*) FROM (SELECT tracker FROM job WHERE single
			AND state IN ('waiting', 'scheduled', 'running', 'stuck') GROUP BY tracker HAVING count(*) > 1) AS d`,
		"marks": `SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL AND id LIKE 'healthy-%'`,
	} {
		if n := s.count(query); n != 0 {
			s.Errorf("%s: %d", name, n)
		}
	}
	missed := s.count(`SELECT count(*) FROM periodic_tick WHERE task_id LIKE 'healthy-%' AND decision <> 'submitted'`)
	s.Logf("%d healthy tasks: %d ticks, %d of them not submitted", tasks,
		s.count(`SELECT count(*) FROM periodic_tick WHERE task_id LIKE 'healthy-%'`), missed)
	strict := os.Getenv("NEXTRUN_SOAK_SECONDS") != ""
	submitted := s.count("SELECT count(*) FROM periodic_tick WHERE task_id LIKE 'healthy-%' AND decision = 'submitted'")
	if least := tasks * int(r.measured.Seconds()) / 2; strict && submitted < least {
		s.Errorf("only %d ticks of healthy tasks were submitted, expected %d at least", submitted, least)
	}
	if strict && missed > 0 {
		s.Errorf("%d ticks of healthy tasks were not submitted", missed)
	}
	r.lateness["submission"] = s.submissions(r.begun, r.begun.Add(r.measured))
	for kind, late := range r.lateness {
		slices.Sort(late)
		if len(late) == 0 {
			s.Fatalf("no %s of a healthy task was seen", kind)
		}
		at := func(share float64) time.Duration {
			return late[int(share*float64(len(late)-1))].Round(time.Millisecond)
		}
		s.Logf("%s: %d, late by %v in the median, %v at the 99th percentile, %v at most", kind, len(late), at(0.5), at(0.99), at(1))
		if limit := r.quiet[kind] + maxLateness; strict && at(0.5) > limit {
			s.Errorf("%ss of healthy tasks were late by %v in the median, the limit is %v", kind, at(0.5), limit)
		}
	}
	if len(r.lateness) != 3 {
		s.Error("the receiver saw no calls of jobs, or none of events")
	}
	if out, err := s.command("verify").CombinedOutput(); err != nil {
		s.Errorf("nextrun verify: %v\n%s", err, out)
	}
	if s.Failed() {
		for name, out := range s.output {
			s.Logf("%s:\n%s", name, out)
		}
	}
}

// submissions returns how late the jobs of healthy tasks were submitted.
func (s *soak) submissions(from, to time.Time) (late []time.Duration) {
	s.Helper()
	rows, err := s.sql.Query("SELECT due, submitted FROM job WHERE tracker LIKE 'healthy-%'")
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var due, submitted time.Time
		if err := rows.Scan(&due, &submitted); err != nil {
			s.Fatal(err)
		}
		if due.After(from) && due.Before(to) {
			late = append(late, submitted.Sub(due))
		}
	}
	if err := rows.Err(); err != nil {
		s.Fatal(err)
	}
	return late
}

// receiver takes the calls of jobs and of the relay, and notes how late those of
// healthy tasks are.
type receiver struct {
	server *httptest.Server

	mu        sync.Mutex
	measuring bool
	begun     time.Time
	measured  time.Duration
	lateness  map[string][]time.Duration
	quiet     map[string]time.Duration // the median without misfortunes
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{lateness: map[string][]time.Duration{}}
	r.server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.server.Close)
	return r
}

func (r *receiver) config() string {
	return "handlers:\n  call:\n    http:\n      url: " + r.server.URL + "/job\n" +
		"relay:\n  topics:\n    '*':\n      webhook:\n        url: " + r.server.URL + "/event\n"
}

// compare keeps the medians of what was measured, and begins anew. Jobs and events
// that are all due at the full second wait for each other.
func (r *receiver) compare() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.quiet = map[string]time.Duration{}
	for kind, late := range r.lateness {
		slices.Sort(late)
		r.quiet[kind] = late[len(late)/2]
	}
	r.lateness = map[string][]time.Duration{}
}

func (r *receiver) measure(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.measuring = on; on {
		r.begun = time.Now()
	} else {
		r.measured = time.Since(r.begun)
	}
}

func (r *receiver) serve(w http.ResponseWriter, request *http.Request) {
	kind, due := "job", request.Header.Get("Nextrun-Due")
	var event struct{ Due string }
	body, _ := io.ReadAll(request.Body)
	if request.URL.Path == "/event" {
		_ = json.Unmarshal(body, &event)
		kind, due = "event", event.Due
	}
	healthy := strings.Contains(string(body), "healthy")
	if at, err := time.Parse(time.RFC3339Nano, due); err == nil && healthy {
		r.mu.Lock()
		if r.measuring {
			r.lateness[kind] = append(r.lateness[kind], time.Since(at))
		}
		r.mu.Unlock()
	}
	w.WriteHeader(http.StatusNoContent)
}

// called reports whether it was called for a job and for an event since measuring began.
func (r *receiver) called() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.lateness["job"]) > 0 && len(r.lateness["event"]) > 0
}

// write replaces the configuration file.
func (s *soak) write(config string) {
	s.Helper()
	if err := os.WriteFile(filepath.Clean(s.config), []byte(config), 0o600); err != nil {
		s.Fatal(err)
	}
}
