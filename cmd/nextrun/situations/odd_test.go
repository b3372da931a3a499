package situations_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/dashboard"
	"github.com/nextrun/nextrun/ops/metrics"
)

// odd are tasks in odd states, and what each of them is said to be: its columns, its tick half an hour ago, the job of that, and what else there is.
// Their timer elapses hourly and they are due at a full hour; # is its id.
var odd = []struct {
	id, set   string // columns of the task
	next      string // when it is due; empty: in an hour
	tick, job string // columns of its newest tick and its job, with values; empty: there is none
	more      string // another statement
	state     string
	cause     string   // why it needs attention; empty: it does not
	codes     []string // of the findings of why
	mistakes  bool     // check warns of it
}{
	{id: "paused-from-tomorrow", set: "paused = {24h}, paused_by = 'ada'", state: "paused", codes: []string{"task_paused"}, mistakes: true},
	{id: "disabled-with-a-next-run", set: "enabled = false", more: "UPDATE periodic_task SET nextrun = {1h} WHERE id = '#'", state: "disabled", codes: []string{"task_disabled"}},
	{id: "misspelt", set: "task = 'bakcup'", tick: "submitted", job: "'waiting', NULL, NULL", state: "waiting", cause: "task_stale", codes: []string{"job_no_handler", "task_stale"}},
	{id: "by-hand-an-hour-off", set: "timer = '*-*-* *:30:07'", more: "UPDATE periodic_task SET nextrun = {1h} WHERE id = '#'", state: "not run yet", codes: []string{"next_by_hand"}, mistakes: true},
	{id: "on-a-dead-worker", tick: "submitted", job: "'running', 'dead@000000000002', NULL", state: "running", cause: "task_stale", codes: []string{"job_silent", "task_stale"}},
	{id: "held", set: "overlap = 'queue'", next: "{-10m}", tick: "submitted", job: "'running', 'lives@000000000001', NULL", state: "running", cause: "task_stale", codes: []string{"tick_waits", "job_running", "task_stale"}},
	{id: "handler-paused", set: "task = 'limited'", tick: "submitted", job: "'waiting', NULL, NULL", more: "INSERT INTO job_limit (kind, name, max) VALUES ('handler', 'limited', 0)",
		state: "waiting", cause: "task_stale", codes: []string{"job_limit", "task_stale"}},
	{id: "group-paused", set: "group_ = 'night'", tick: "submitted", job: "'waiting', NULL, NULL", more: "INSERT INTO job_limit (kind, name, max) VALUES ('group', 'night', 0)",
		state: "waiting", cause: "task_stale", codes: []string{"job_limit", "task_stale"}},
	{id: "no-such-queue", set: "sink = 'river'", state: "not run yet", codes: []string{"queue_broken"}, mistakes: true},
	{id: "no-such-queue-and-due", set: "sink = 'river'", next: "{-10m}", state: "overdue", cause: "task_overdue", codes: []string{"queue_broken", "task_overdue"}, mistakes: true},
	{id: "every-day-excluded", set: "exclude_calendars = 'always'", more: "INSERT INTO periodic_calendar (name, first_day, last_day) VALUES ('always', '2000-01-01', '2199-01-01')", state: "not run yet", codes: []string{"tick_left_out"}},
	{id: "ended", set: "ends = {-1h}", next: "'9999-12-31 23:59:59.000000'", tick: "submitted", job: "'success', NULL, {-20m}", state: "ended", codes: []string{"task_idle"}, mistakes: true},
	{id: "starts-later", set: "starts = {48h}", next: "{48h}", state: "not run yet", codes: []string{"task_idle"}},
	{id: "never-before-its-ends", set: "timer = '2090-01-01', ends = '2089-01-01 00:00:00'", next: "'9999-12-31 23:59:59.000000'", state: "never elapses", codes: []string{"task_idle"}, mistakes: true},
	{id: "skipped-ahead", more: "INSERT INTO periodic_tick (task_id, due, decision, reason) VALUES ('#', {tick}, 'skipped', 'moving')", state: "not run yet", codes: []string{"tick_left_out"}},
	{id: "skipped-at-no-tick", more: "INSERT INTO periodic_tick (task_id, due, decision, reason) VALUES ('#', {61s}, 'skipped', 'moving')", state: "not run yet", codes: []string{"tick_left_out"}, mistakes: true},
	{id: "retries-used", tick: "submitted", job: "'failed', 'lives@000000000001', {-20m}", state: "failed", cause: "run_failed", codes: []string{"run_failed"}},
	{id: "broken-timer", set: "timer = 'Fry 10:00'", more: "UPDATE periodic_task SET problem = 'timer \"Fry 10:00\": wrong' WHERE id = '#'", state: "blocked", cause: "task_problem", codes: []string{"task_problem"}, mistakes: true},
	{id: "odd-args", more: "UPDATE periodic_task SET problem = 'warning: args is not JSON' WHERE id = '#'", state: "not run yet", cause: "task_warning", codes: []string{"task_warning"}, mistakes: true},
	{id: "overdue", next: "{-10m}", state: "overdue", cause: "task_overdue", codes: []string{"task_overdue"}},
	{id: "overdue-since-a-pause", set: "paused = {-1h}, paused_until = {-5m}", next: "{-10m}", state: "overdue", cause: "task_overdue", codes: []string{"task_overdue"}},
	{id: "paused-and-overdue", set: "paused = {-1h}", next: "{-10m}", state: "paused", cause: "task_overdue", codes: []string{"task_paused", "task_overdue"}},
	{id: "paused-after-failures", set: "paused = {-10m}, paused_by = 'nextrun', paused_reason = '3 failures in a row'", tick: "submitted", job: "'failed', NULL, {-20m}",
		state: "paused", cause: "task_paused", codes: []string{"task_paused", "run_failed"}},
	{id: "paused-and-failed", set: "paused = {-10m}, paused_by = 'ada'", tick: "submitted", job: "'failed', NULL, {-20m}", state: "paused", codes: []string{"task_paused", "run_failed"}},
	{id: "late", tick: "late", state: "late", cause: "tick_missed", codes: []string{"tick_missed"}},
	{id: "cancelled", tick: "submitted", job: "'cancelled', NULL, {-20m}", state: "cancelled", cause: "task_stale", codes: []string{"task_stale"}},
	{id: "job-deleted", more: "INSERT INTO periodic_tick (task_id, due, decision, decided, jid, outcome, finished) VALUES ('#', {-30m}, 'submitted', {-30m}, 'gone', 'success', {-20m})", state: "success"},
}

// Tasks in odd states, beside each other: lists, pages, metrics, `why`, `status` and `check` say the same of each.
func TestOddTasks(t *testing.T) {
	t.Parallel()
	storetest.Kinds(t, func(t *testing.T, kind string) {
		w := &world{T: t, d: migrated.New(t, kind)}
		w.sh = clitest.Shell{Env: map[string]string{"NEXTRUN_DB": w.d.URL}}
		w.sql("INSERT INTO worker (id, kind, version, started, seen, places, handlers) VALUES ('lives@000000000001', 'executor', 'v1', {-1h}, {1h}, 9, '[{\"name\": \"backup\", \"attempts\": 6}, {\"name\": \"limited\", \"attempts\": 6}]')",
			"INSERT INTO worker (id, kind, version, started, seen) VALUES ('dead@000000000002', 'executor', 'v1', {-1h}, {-5m})")
		var want []string
		for _, o := range odd {
			w.odd(o.id, o.set, o.next, o.tick, o.job, o.more)
			if o.cause != "" {
				want = append(want, o.id)
			}
		}
		slices.Sort(want)
		db := w.d.Open()
		handler, err := dashboard.Handler(db, dashboard.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ask := func(path string, to any) {
			t.Helper()
			storetest.Eventually(t, path, func() bool {
				answer := httptest.NewRecorder()
				request := httptest.NewRequestWithContext(t.Context(), "GET", path+"format=json", nil)
				request.Host = "localhost"
				handler.ServeHTTP(answer, request)
				if answer.Code == http.StatusOK {
					clitest.Decode(t, answer.Body.String(), to)
				}
				return answer.Code == http.StatusOK
			})
		}
		var list, needing []status
		clitest.Decode(t, w.sh.Must(t, "task", "list", "--json"), &list)
		clitest.Decode(t, w.sh.Must(t, "task", "list", "--state", "attention", "--json"), &needing)
		var ids []string
		for _, one := range needing {
			ids = append(ids, one.ID)
		}
		if !slices.Equal(ids, want) {
			t.Errorf("%v need attention, want %v", ids, want)
		}
		var page struct{ Tasks []status }
		ask("/tasks?", &page)
		m := metrics.New(metrics.Options{})
		m.Watch(db)
		scraped := httptest.NewRecorder()
		m.Handler().ServeHTTP(scraped, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
		check := w.sh.Run(t.Context(), "check").Stdout
		summary := w.sh.Run(t.Context(), "status").Stdout
		wantText(t, words(summary), fmt.Sprintf("%d tasks: %d need attention", len(odd), len(want)))
		slices.SortFunc(list, func(a, b status) int { return strings.Compare(a.ID, b.ID) })
		for _, o := range odd {
			find := func(in []status) status {
				return in[slices.IndexFunc(in, func(s status) bool { return s.ID == o.id })]
			}
			var why status
			clitest.Decode(t, w.sh.Must(t, "why", o.id, "--json"), &why)
			var one struct{ Task, Why status }
			ask("/task?id="+o.id+"&", &one)
			for place, said := range map[string]status{"why": why, "the list": find(list), "the page of tasks": find(page.Tasks), "its page": one.Task} {
				cause := ""
				if said.Attention != nil {
					cause = *said.Attention
				}
				if said.State != o.state || cause != o.cause {
					t.Errorf("%s: %s says %q and %q, want %q and %q", o.id, place, said.State, cause, o.state, o.cause)
				}
			}
			if next := find(list).Next; !next.Equal(why.Next) || !next.Equal(find(page.Tasks).Next) || !next.Equal(one.Task.Next) {
				t.Errorf("%s: the list has the next run %s, why %s, the page of tasks %s and its page %s", o.id, next, why.Next, find(page.Tasks).Next, one.Task.Next)
			}
			codes := []string{}
			for _, f := range why.Findings {
				codes = append(codes, f.Code)
			}
			if !slices.Equal(codes, append([]string{}, o.codes...)) || !slices.Equal(why.Findings, one.Why.Findings) {
				t.Errorf("%s: the codes are %q, want %q:\n%s", o.id, codes, o.codes, w.sh.Must(t, "why", o.id))
			}
			if series := fmt.Sprintf(`nextrun_task_attention{cause=%q,task=%q} 1`, o.cause, o.id); strings.Contains(scraped.Body.String(), series) != (o.cause != "") ||
				strings.Contains(scraped.Body.String(), fmt.Sprintf(`,task=%q} 1`, o.id)) != (o.cause != "") {
				t.Errorf("%s: the metrics do not have its cause %q alone", o.id, o.cause)
			}
			if strings.Contains(check, " task "+o.id+" ") != o.mistakes {
				t.Errorf("%s: check has a mistake of it, or has none:\n%s", o.id, check)
			}
			if w.d.One("SELECT count(*) FROM periodic_stale WHERE id = ?", o.id) != "0" && o.cause == "" {
				t.Errorf("%s is in periodic_stale, and needs no attention", o.id)
			}
		}
	})
}

// odd adds a task in an odd state.
func (w *world) odd(id, set, next, tick, job, more string) {
	w.Helper()
	if next == "" {
		next = "{tick}"
	}
	tickToCome := "'" + time.Now().UTC().Truncate(time.Hour).Add(2*time.Hour).Format("2006-01-02 15:04:05.000000") + "'"
	next, more = strings.ReplaceAll(next, "{tick}", tickToCome), strings.ReplaceAll(more, "{tick}", tickToCome)
	w.sql("INSERT INTO periodic_task (id, task, timer, created) VALUES ('" + id + "', 'backup', 'hourly', {-24h})")
	if set != "" {
		w.sql("UPDATE periodic_task SET " + set + " WHERE id = '" + id + "'")
	}
	w.sql("UPDATE periodic_task SET due = "+next+", nextrun = "+next+" WHERE id = '"+id+"'", "UPDATE periodic_task SET since = {-24h} WHERE id = '"+id+"'")
	if tick != "" {
		w.sql("INSERT INTO periodic_tick (task_id, due, decision, decided, jid) VALUES ('" + id + "', {-30m}, '" + tick + "', {-30m}, 'job-of-" + id + "')")
	}
	if job != "" {
		w.sql("INSERT INTO job (jid, task, group_, tracker, submitted, due, started, state, worker, finished) SELECT 'job-of-" + id + "', task, group_, id, {-30m}, {-30m}, " +
			map[bool]string{true: "NULL", false: "{-29m}"}[strings.Contains(job, "'waiting'")] + ", " + job + " FROM periodic_task WHERE id = '" + id + "'")
	}
	if more != "" {
		w.sql(strings.ReplaceAll(more, "#", id))
	}
}
