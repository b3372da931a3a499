package dashboard_test

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/ops/dashboard"
)

type nowData struct {
	Totals struct {
		Troubled int `json:"need_attention"`
	}
	Troubled []struct {
		ID    string
		Wrong struct{ State string }
	}
	Others   int `json:"troubled_not_listed"`
	Sentence string
	Day      struct {
		Sum []struct {
			What string
			Runs int
		}
	}
}

// The first page finds what fails among all tasks, and says how many it does not list.
func TestNowLooksAtAllTasks(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.scheduler()
		for i := range 120 {
			s.task(fmt.Sprintf("t%03d", i))
		}
		now := time.Now().UTC()
		for i := 78; i < 120; i++ { // 42, none of them among the first
			s.ran(fmt.Sprintf("t%03d", i), now.Add(-2*time.Hour), time.Second, "failed")
		}
		s.ran("t119", now.Add(-time.Hour), time.Second, "running") // it does not make up for the failure
		s.ran("t118", now.Add(-time.Hour), time.Second, "success") // but this does
		s.ran("t000", now.Add(-time.Hour), time.Second, "success")
		s.Exec(`UPDATE periodic_task SET enabled = false WHERE id = 't117'`)
		s.Exec(`UPDATE periodic_task SET timer = 'Mon 25:00' WHERE id = 't050'`)
		s.Exec(`UPDATE periodic_task SET problem = 'the timer is wrong' WHERE id = 't050'`)
		var d nowData
		s.data("/?format=json", &d)
		if d.Totals.Troubled != 41 || len(d.Troubled) != 20 || d.Others != 21 || d.Troubled[1].Wrong.State != "failed" {
			s.Errorf("%+v", d)
		}
		s.shows("/", "41 of 120 tasks need attention", "and 21 more that need attention")
		s.shows("/tasks?state=attention&after=t118", ">t119<", "!>t118<")
	})
}

// The worst comes first, whatever its id: what has never run is missed by nobody yet. What people can do about it stands beside it.
func TestNowSortsByHarm(t *testing.T) {
	both(t, dashboard.Options{Authorize: may}, func(s *site) {
		now := time.Now().UTC().Truncate(time.Second)
		for _, id := range []string{"a-warned", "b-missed", "c-failed-once", "d-failed-often", "e-failed-important", "f-blocked", "g-overdue", "h-fine", "i-mistyped"} {
			s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun, priority) VALUES (?, 'work', 'hourly', '2099-01-01 00:00:00', ?)`, id, map[bool]int{true: 9, false: 5}[strings.Contains(id, "important")])
		}
		s.Exec(`UPDATE periodic_task SET problem = 'warning: the args are odd' WHERE id = 'a-warned'`)
		s.Exec(`UPDATE periodic_task SET timer = 'Mun' WHERE id IN ('f-blocked', 'i-mistyped')`)
		s.Exec(`UPDATE periodic_task SET problem = 'timer "Mun": unknown' WHERE id IN ('f-blocked', 'i-mistyped')`)
		s.Exec(`UPDATE periodic_task SET nextrun = ? WHERE id = 'g-overdue'`, sqldb.Timestamp(now.Add(-time.Minute)))
		s.Exec(`UPDATE periodic_task SET since = '2026-01-01 00:00:00' WHERE id = 'g-overdue'`)
		s.scheduler()
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided, missed) VALUES ('b-missed', ?, 'missed', ?, 7)`, sqldb.Timestamp(now.Add(-time.Hour)), sqldb.Timestamp(now))
		for n, id := range []string{"d-failed-often", "d-failed-often", "d-failed-often", "c-failed-once", "e-failed-important"} {
			s.ran(id, now.Add(-2*time.Hour+time.Duration(n)*time.Second), time.Second, "failed")
		}
		s.ran("f-blocked", now.Add(-30*time.Hour), time.Second, "success")
		s.ran("h-fine", now.Add(-3*time.Hour), time.Second, "success")
		s.ran("h-fine", now.Add(-25*time.Hour), time.Second, "failed")
		var d nowData
		s.data("/?format=json", &d)
		var ids []string
		for _, one := range d.Troubled {
			ids = append(ids, one.ID)
		}
		want := []string{"g-overdue", "f-blocked", "e-failed-important", "d-failed-often", "c-failed-once", "i-mistyped", "b-missed", "a-warned"}
		if !slices.Equal(ids, want) || d.Sentence != "8 of 9 tasks need attention" {
			s.Errorf("%q: %v", d.Sentence, ids)
		}
		if got := fmt.Sprint(d.Day.Sum); got != "[{success 1} {failed 5} {missed or late 7}]" {
			s.Errorf("the last day has %s", got)
		}
		s.shows("/", "d-failed-often Failing since ", ", 3 runs in a row", "Cannot run: its row has a mistake", "Missed 7 runs since ", "and no scheduler has taken it", `aria-label="Edit: i-mistyped"`,
			`aria-label="Run now: b-missed"`, `!aria-label="Run now: f-blocked"`, "Runs of the last 24 hours", "success 1", "!missed together")
		s.shows("/task?id=g-overdue", "due 1 min", "!next in")
	})
}

// The first page of a new database says what to do, and raises no alarm. Then it names what is missing, one after the other.
func TestSentencesOfNow(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		says := func(sentence string, texts ...string) {
			s.Helper()
			s.shows("/", append(texts, sentence+" · nextrun")...)
		}
		says("No tasks yet", "Add a task", "Start a scheduler", `!role="alert"`, `!class="bad"`)
		s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('t', 'work', 'hourly')`)
		s.Exec(`UPDATE periodic_task SET since = '2026-01-01 00:00:00'`)
		says("No scheduler has run yet", "Tasks are planned when a scheduler starts", "!1970-01-01")
		s.ran("t", time.Now().Add(-time.Hour), time.Second, "success")
		says("No scheduler runs, and 1 task is due", `role="alert"`)
		s.Exec(`UPDATE periodic_task SET nextrun = '2099-01-01 00:00:00'`)
		says("Tasks wait for a scheduler", "No scheduler is known to run, so what falls due waits")
		s.scheduler()
		says("The task is on time", `href="/task?id=t">t</a>`, "Next 1 Jan 2099, 00:00:00 t")
		s.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('e', 't', 'x', 'a', 1)`)
		s.Exec(`INSERT INTO outbox_message (event_id, topic, dead) VALUES ('e', 't', '2026-01-01 00:00:00')`)
		says("Events of 1 topic do not get out", "1 event given up after too many attempts", `href="/system?topic=t#events"`)
		s.Exec(`DELETE FROM outbox_message`)
		s.Exec(`INSERT INTO job (jid, task, submitted) VALUES ('j', 'work', ?)`, sqldb.Timestamp(time.Now().Add(-31*time.Minute)))
		says("Jobs are waiting", "1 job is waiting, and no executor is known to run")
		s.Exec(`INSERT INTO worker (id, kind, version, started, seen, places, handlers) VALUES ('e@1', 'executor', 'v1', '2026-01-01 00:00:00', '2999-01-01 00:00:00', 4, '[]')`)
		says("Jobs are waiting", "1 job is waiting, the oldest for 31 min", "4 places")
		s.Exec(`UPDATE job SET state = 'running', started = ? WHERE jid = 'j'`, sqldb.Timestamp(time.Now().Add(-time.Minute)))
		says("The task is on time", `href="/run?job=j">work</a>`, "1 running")
	})
}

// The first sentence and the chip of the list count what needs attention, and the sentence does not hide that a process is gone. That is
// one line, and one row of the page of the system, whatever ran in it; nobody counts its places.
func TestAProcessIsGone(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.task("broken", "fine")
		s.ran("broken", time.Now().Add(-time.Hour), time.Second, "failed")
		s.shows("/", "1 of 2 tasks needs attention; no scheduler runs · nextrun")
		s.Exec(`UPDATE periodic_task SET nextrun = ?`, sqldb.Timestamp(time.Now().Add(-time.Minute)))
		s.Exec(`UPDATE periodic_task SET since = '2026-01-01 00:00:00'`)
		s.shows("/", "No scheduler runs, and 2 tasks are due; 1 has another problem · nextrun", "broken Failed at", "!fine Due for")
		s.Exec(`UPDATE periodic_task SET nextrun = '2099-01-01 00:00:00'`)
		s.shows("/tasks", "Attention 1", "broken every hour, UTC", "failed last due 1 h ago")
		s.scheduler()
		s.shows("/", "1 of 2 tasks needs attention · nextrun")
		gone := time.Now().Add(-time.Minute)
		for _, row := range []string{`('vm@1', 'executor', 'v1', ?, ?, 10, NULL)`, `('vm@2', 'executor', 'v1', ?, ?, 4, '["nextrun.hooks"]')`, `('vm@3', 'scheduler', 'v1', ?, ?, NULL, NULL)`} {
			s.Exec(`INSERT INTO worker (id, kind, version, started, seen, places, only_groups) VALUES `+row, sqldb.Timestamp(gone), sqldb.Timestamp(gone))
		}
		page := s.shows("/", "1 of 2 tasks needs attention; a process has gone without a word · nextrun", "vm has given no sign of life for 1 min")
		if n := strings.Count(page, "vm has given no sign of life"); n != 1 {
			s.Errorf("the page says %d times that it is gone", n)
		}
		s.shows("/system", "scheduler, executor 10 places hooks: 4 places", "!places taken")
		s.Exec(`INSERT INTO worker (id, kind, version, started, seen, places) VALUES ('b@1', 'executor', 'v1', '2026-01-01 00:00:00', '2999-01-01 00:00:00', 3)`)
		s.shows("/system", "0 of 3 places taken")
	})
}

// Each task is in one state, the states add up, and each leads to as many tasks.
func TestNowAddsUp(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		for id, set := range map[string]string{"a": "enabled = true", "b": "enabled = true", "c": "paused = '2026-01-01 00:00:00'", "d": "problem = 'wrong'", "e": "enabled = false",
			"f": "problem = 'warning: odd'", "g": "enabled = false, problem = 'wrong'", "h": "paused = '2026-01-01 00:00:00'"} {
			s.task(id)
			s.Exec(`UPDATE periodic_task SET `+set+` WHERE id = ?`, id)
		}
		s.Exec(`UPDATE periodic_task SET problem = 'wrong' WHERE id = 'h'`) // an edit, such as a pause, clears it
		s.shows("/", "8 tasks, 1 paused, 2 blocked, 2 disabled")
		all := 0
		for state, want := range map[string]int{"enabled": 3, "paused": 1, "blocked": 2, "disabled": 2} {
			var list struct{ Tasks []struct{ ID string } }
			s.data("/tasks?format=json&state="+state, &list)
			if len(list.Tasks) != want {
				s.Errorf("%s: the list has %d", state, len(list.Tasks))
			}
			all += len(list.Tasks)
		}
		if all != 8 {
			s.Errorf("%d tasks", all)
		}
	})
}

// The page of the system has a row for each process that runs, and for those that have gone without a word.
func TestProcesses(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		type process struct {
			Name     string
			Parts    []string
			Version  string
			Places   int
			Handlers []string
		}
		var d struct{ Processes []process }
		s.shows("/system", "No process runs", "!The newest tick")
		s.task("report")
		s.ran("report", time.Now().Add(-time.Hour), time.Second, "success")
		s.shows("/system", "The newest tick was decided by vm 1 h ago, and vm had its job.")
		now := time.Now()
		const insert = `INSERT INTO worker (id, kind, version, started, seen, places, handlers) VALUES `
		for i, row := range []string{`('vm@abcdef012345', 'executor', 'v1.2.3', ?, ?, 10, '[{"name": "mail", "attempts": 6}]')`, `('vm@0000000000aa', 'scheduler', 'v1.2.3', ?, ?, NULL, NULL)`,
			`('web@0000000000aa', 'scheduler', 'v1.2.3', ?, ?, NULL, NULL)`, `('killed@1', 'executor', 'v1', ?, ?, 10, '[]')`} {
			s.Exec(insert+row, sqldb.Timestamp(now), sqldb.Timestamp(now.Add(-[]time.Duration{0, 0, 0, 3 * time.Minute}[i])))
		}
		s.data("/system?format=json", &d)
		want := []process{{"killed", []string{"executor"}, "v1", 10, nil}, {"vm", []string{"scheduler", "executor"}, "v1.2.3", 10, []string{"mail"}}, {"web", []string{"scheduler"}, "v1.2.3", 0, nil}}
		if !reflect.DeepEqual(d.Processes, want) {
			s.Errorf("the processes are %+v, want %+v", d.Processes, want)
		}
		s.shows("/system", "vm scheduler, executor 10 places mail v1.2.3", "0 of 10 places taken", "killed no sign of life for 3 min")
	})
}

// The page of the system says what to do about a topic that nobody publishes, and sends events again.
func TestEventsSayWhatToDo(t *testing.T) {
	both(t, dashboard.Options{Authorize: may}, func(s *site) {
		old := sqldb.Timestamp(time.Now().Add(-time.Hour))
		for i, topic := range []string{"reports", "mail", "lost"} {
			id := fmt.Sprintf("01a2135a-f0dd-75af-86c6-a11c86d85e%02d", i)
			s.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, payload, created) VALUES (?, ?, 'x', ?, 1, '{}', ?)`, id, topic, id, old)
			s.Exec(`INSERT INTO outbox_message (event_id, topic, created) VALUES (?, ?, ?)`, id, topic, old)
		}
		s.Exec(`UPDATE outbox_message SET problem = 'connection refused', attempts = 3, retry = ? WHERE topic = 'mail'`, sqldb.Timestamp(time.Now().Add(-10*time.Minute)))
		s.Exec(`UPDATE outbox_message SET dead = '2026-01-01 00:00:00' WHERE topic = 'lost'`)
		s.shows("/system", "No relay publishes this topic.", "connection refused; no relay has tried it again for 10 min")
		s.shows("/system?topic=lost", `value="01a2135a-f0dd-75af-86c6-a11c86d85e02"`, `!value="01a2135a-f0dd-75af-86c6-a11c86d85e00"`)
		s.post("/system", map[string][]string{"action": {"resend-dead"}, "topic": {"lost"}}, "/system?done=Events+that+are+sent+again%3A+1.&topic=lost")
		s.shows("/system?topic=lost", "lost 1 1 h ago 0")
	})
}

// Of a thousand tasks, what needs attention is kept for some seconds, but not beyond what somebody does, or when it is well again.
func TestNowKeepsWhatCostsMuch(t *testing.T) {
	both(t, dashboard.Options{Authorize: may}, func(s *site) {
		s.scheduler()
		s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) WITH RECURSIVE n (i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 1999)
			SELECT 't' || i, 'work', 'hourly', '2099-01-01 00:00:00' FROM n`)
		s.shows("/", "All 1,000 tasks are on time")
		s.ran("t1007", time.Now().Add(-time.Hour), time.Second, "failed")
		s.post("/tasks", url.Values{"action": {"pause"}, "id": {"t1999"}}, "/?done=Paused")
		s.shows("/", "1 of 1,000 tasks needs attention", "t1007 Failed at")
		s.ran("t1008", time.Now().Add(-time.Hour), time.Second, "failed")
		s.shows("/", "1 of 1,000 tasks needs attention")
		s.shows("/tasks", "Attention 1")
		s.Exec(`UPDATE job SET state = 'success' WHERE tracker = 't1007'`)
		s.shows("/", "All of the 999 enabled tasks are on time", "!t1007 Failed")
	})
}
