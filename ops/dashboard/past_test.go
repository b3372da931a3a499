package dashboard_test

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/ops/dashboard"
	"github.com/nextrun/nextrun/ops/lifecycle"
)

// ran adds a tick of a task and the job that it became.
func (s *site) ran(task string, due time.Time, took time.Duration, state string) {
	s.Helper()
	jid := task + due.UTC().Format(time.RFC3339)
	s.Exec(`INSERT INTO job (jid, task, tracker, state, worker, due, submitted, started, finished) VALUES (?, 'work', ?, ?, 'vm@abcdef012345', ?, ?, ?, ?)`,
		jid, task, state, sqldb.Timestamp(due), sqldb.Timestamp(due), sqldb.Timestamp(due), sqldb.Timestamp(due.Add(took)))
	s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, jid, worker, decided) VALUES (?, ?, 'submitted', ?, 'vm@0123456789ab.17', ?)`,
		task, sqldb.Timestamp(due), jid, sqldb.Timestamp(due))
}

// The page of the scheduler names who runs, and not who has ended.
func TestInstances(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		type instance struct {
			Name, Boot, Kind, Version string
			Places                    int
			Handlers                  []string
		}
		var d struct{ Instances []instance }
		s.data("/scheduler?format=json", &d)
		if len(d.Instances) != 0 {
			s.Errorf("nobody runs, but there are %+v", d.Instances)
		}
		now := time.Now()
		const insert = `INSERT INTO worker (id, kind, version, started, seen, places, handlers) VALUES `
		s.Exec(insert+`('vm@abcdef012345', 'executor', 'v1.2.3', ?, ?, 10, '[{"name": "mail", "attempts": 6}]'), ('web@0000000000aa', 'scheduler', 'v1.2.3', ?, ?, NULL, NULL)`,
			sqldb.Timestamp(now), sqldb.Timestamp(now), sqldb.Timestamp(now), sqldb.Timestamp(now))
		s.Exec(insert+`('killed@1', 'executor', 'v1', ?, ?, 10, '[]')`, sqldb.Timestamp(now), sqldb.Timestamp(now.Add(-3*time.Minute)))
		s.data("/scheduler?format=json", &d)
		want := []instance{{"vm", "abcdef012345", "executor", "v1.2.3", 10, []string{"mail"}}, {"web", "0000000000aa", "scheduler", "v1.2.3", 0, nil}}
		if !reflect.DeepEqual(d.Instances, want) {
			s.Errorf("the instances are %+v, want %+v", d.Instances, want)
		}
		page := s.get("/scheduler")
		for _, want := range []string{"<td>vm</td><td><code title=\"abcdef012345\">abcdef…</code></td><td>executor<br>", "<code>mail</code>", "v1.2.3", "<code>nextrun health</code>"} {
			if !strings.Contains(page, want) {
				s.Errorf("the page lacks %q", want)
			}
		}
	})
}

// A program that knows its stages shows them, and what is wrong with one.
func TestStages(t *testing.T) {
	health := func(context.Context) lifecycle.Report {
		return lifecycle.Report{Stages: []lifecycle.StageHealth{{Stage: "database", State: lifecycle.Up},
			{Stage: "relay", State: lifecycle.Failed, Error: "no broker <answers>"}}}
	}
	one(t, dashboard.Options{Health: health, Authorize: may}, func(s *site) {
		var d struct{ Stages []lifecycle.StageHealth }
		s.data("/scheduler?format=json", &d)
		if !slices.Equal(d.Stages, health(s.Context()).Stages) {
			s.Errorf("the stages are %+v", d.Stages)
		}
		_, _, page := s.ask(s.request(http.MethodGet, "/scheduler", nil))
		if !strings.Contains(page, ": relay: no broker") || !strings.Contains(page, "up</span>: database</p>") || !strings.Contains(page, "no broker &lt;answers&gt;") || strings.Contains(page, "nextrun health") {
			s.Errorf("the page shows no stages: %s", page)
		}
	})
}

// The page of a task says how it does, what went wrong, and offers what fits its state.
func TestTaskSaysHowItDoes(t *testing.T) {
	both(t, dashboard.Options{Authorize: may}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, group_, nextrun) VALUES ('report', 'work', '*-*-* 02:30 Europe/Berlin', 'office', '2099-01-01 00:00:00')`)
		now := time.Now().UTC().Truncate(time.Second)
		for i := range 30 {
			s.ran("report", now.Add(-time.Duration(i+2)*time.Hour), 10*time.Second, "success")
		}
		s.ran("report", now.Add(-time.Hour), 40*time.Second, "failed")
		s.Exec(`UPDATE job SET result = 'exit status 3', retries = 2 WHERE state = 'failed'`)
		s.Exec(`INSERT INTO joblog (id, jid, level, created, message, counter) SELECT 'line', jid, 'error', submitted, 'FATAL: no route', 1 FROM job WHERE state = 'failed'`)
		page := s.get("/task?id=report")
		for _, want := range []string{"<dt>State</dt><dd>failed</dd>", "<dt>Usually takes</dt><dd>10 s</dd>", "exit status 3.<br><code>FATAL: no route</code>", "Retry the job that failed", "4.0 × the usual", "3 attempts", "last success <span", "What became of the tick at (UTC)",
			`<a href="/tasks?group=office">office</a>`, `value="pause"`, "<title>report: failed"} {
			if !strings.Contains(page, want) {
				s.Errorf("the page lacks %q", want)
			}
		}
		if strings.Contains(page, `value="resume"`) {
			s.Error("a task that is not paused can be resumed")
		}
		if code, _, body := s.ask(s.request(http.MethodGet, "/task?id=report&until=yesterday", nil)); code != 400 || !strings.Contains(body, "use a time such as") {
			s.Errorf("%d: %s", code, body)
		}
		s.Exec(`UPDATE periodic_task SET paused = '2026-01-01 00:00:00' WHERE id = 'report'`)
		if page := s.get("/task?id=report"); strings.Contains(page, `value="pause"`) || !strings.Contains(page, `value="resume"`) {
			s.Error("a paused task cannot be resumed, or can be paused")
		}
	})
}
