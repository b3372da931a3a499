package browser_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard"
)

// TestDashboard uses a dashboard with ten thousand tasks and a million ticks as people
// do. One database after the other: it shows how long the pages take.
func TestDashboard(t *testing.T) {
	for _, kind := range []string{storetest.SQLite, storetest.Postgres} {
		t.Run(kind, func(t *testing.T) {
			s := newSite(t, kind, dashboard.Options{Authorize: may})
			began := time.Now()
			s.fill(10_000, 100)
			t.Logf("rows added in %s", time.Since(began).Round(time.Millisecond))
			t.Run("each page opens", func(t *testing.T) { eachPageOpens(t, s) })
			s.schedule(t)
			t.Run("tasks are searched and paged", func(t *testing.T) { tasksAreSearched(t, s.tab(t)) })
			t.Run("several tasks are paused, resumed and run", func(t *testing.T) { severalAreChanged(t, s, s.tab(t)) })
			t.Run("a task is paused, resumed and run", func(t *testing.T) { oneIsChanged(t, s, s.tab(t)) })
			t.Run("a timer is edited with a preview", func(t *testing.T) { timerIsEdited(t, s, s.tab(t)) })
			t.Run("a log is followed", func(t *testing.T) { logIsFollowed(t, s, s.tab(t)) })
			t.Run("all of it works without scripts", func(t *testing.T) { worksWithoutScripts(t, s) })
			t.Run("the keyboard is enough", func(t *testing.T) { keyboardIsEnough(s, s.tab(t)) })
			for _, r := range s.asked() {
				if r.code >= 400 && r.code != http.StatusGatewayTimeout {
					t.Errorf("%s: status %d", r.what, r.code)
				}
			}
		})
	}
}

// largePages are the pages of the large database, and how many of what each shows.
var largePages = []struct {
	path, what string
	count      int
	texts      []string
}{
	{"/", "section table tbody tr", 50, []string{"Needs attention", "Earlier ones", "unknown weekday"}},
	{"/?page=3", "section table tbody tr", 40, []string{"Later ones"}},
	{"/tasks", "main tbody tr", 50, []string{"task-00049", "Next page"}},
	{"/tasks?after=task-09990", "main tbody tr", 10, []string{"task-10000"}},
	{"/tasks?q=task-0999", "main tbody tr", 10, nil},
	{"/tasks?q=handler-49", "main tbody tr", 50, nil},
	{"/tasks?q=nothing+is+called+this", "main tbody tr", 0, []string{"Show all tasks"}},
	{"/tasks?state=problem", "main tbody tr", 50, []string{"unknown weekday"}},
	{"/tasks?state=paused", "main tbody tr", 50, []string{"the warehouse moves"}},
	{"/tasks?group=group-7", "main tbody tr", 50, nil},
	{"/task?id=task-00001", "main tbody tr", 20, []string{"daily"}},
	{"/task?id=task-00003&timer=hourly", "main tbody tr", 20, []string{"Removed: 2,160", "and later ones"}},
	{"/tick?id=task-00001", "main ol.story b", 3, []string{"decided", "the task"}},
	{"/timeline", "main table.lanes tr.all", 1, []string{"group-7"}},
	{"/timeline?group=group-7", "main table.lanes tbody tr", 41, []string{"Next rows"}},
	{"/jobs", "main table.list tbody tr", 100, []string{"Filter"}},
	{"/jobs?state=failed", "main table.list tbody tr", 100, []string{"no space left"}},
	{"/jobs?task=task-00001", "main tbody tr", 5, nil},
	{"/job?id=task-00001-1", "pre[data-follow] time", 500, []string{"line 500 of the log", "More"}},
	{"/events", "main h2", 2, nil},
	{"/scheduler", "main h2", 5, nil},
}

// Every page answers before its time is up, and shows no more rows than people can read.
// How long it takes depends on the machine, so that is shown and not judged.
func eachPageOpens(t *testing.T, s *site) {
	b := s.tab(t)
	for _, p := range largePages {
		b.open(p.path)
		if n := b.count(p.what); n != p.count {
			t.Errorf("%s shows %d of %s, want %d: %s", p.path, n, p.what, p.count, b.shown())
		}
		b.shows(p.texts...)
	}
	pages, slow := 0, 0
	for _, r := range s.asked() {
		if strings.Contains(r.what, "/static/") {
			continue
		}
		pages++
		if r.took > time.Second {
			slow++
		}
		t.Logf("%6d ms  %s", r.took.Milliseconds(), r.what)
	}
	t.Logf("%d of %d pages took the server longer than a second", slow, pages)
}

func tasksAreSearched(t *testing.T, b *tab) {
	b.open("/")
	b.press("Tasks")
	b.fill("Search", "handler-7")
	b.press("Show")
	b.shows("task-00007", "task-00057")
	first := b.text()
	b.press("Next page")
	if again := b.text(); again == first || !strings.Contains(again, "handler-7") {
		t.Errorf("the next page shows: %s", again)
	}
	b.press("First page")
	b.shows("task-00007")

	b.fill("Search", "")
	b.run("choose", chromedp.SetValue(field("State"), "paused"))
	b.press("Show")
	if n := b.count("main tbody td:nth-child(2) .state.off"); n != 50 {
		t.Errorf("%d of the tasks shown are paused", n)
	}
	b.fill("Group", "group-5")
	b.press("Show")
	b.shows("task-00005")
}

// choose selects tasks of the page.
func (b *tab) choose(ids ...string) {
	b.Helper()
	for _, id := range ids {
		b.run("select "+id, chromedp.Click(`//input[@name="id" and @value="`+id+`"]`))
	}
}

func severalAreChanged(t *testing.T, s *site, b *tab) {
	paused := `SELECT count(*) FROM periodic_task WHERE id LIKE 'task-0012%' AND paused IS NOT NULL`
	b.open("/tasks?q=task-0012")
	b.choose("task-00121", "task-00122")
	b.waits(`document.querySelector('#selected').innerText === '2 selected'`)
	b.fill("Reason", "the disk is full")
	b.fill("Until", "3h")
	b.press("Pause")
	b.shows("Paused: task-00121, task-00122.", "the disk is full", "by "+person)
	if q := value[string](b, `document.querySelector('input[name=q]').value`); q != "task-0012" {
		t.Errorf("after the action the page shows the tasks that match %q", q)
	}
	s.Want(2, paused)

	b.run("select all of the page", chromedp.Click(`#all`))
	b.waits(`document.querySelector('#selected').innerText === '10 selected'`)
	b.press("Resume")
	b.shows("Resumed: 10 tasks.")
	s.Want(0, paused)

	b.choose("task-00123", "task-00124")
	b.press("Run now")
	b.shows("Submitted: task-00123, task-00124.")
	s.eventually(t, "2", `SELECT count(*) FROM job WHERE tracker IN ('task-00123', 'task-00124') AND state = 'waiting'`)
}

func oneIsChanged(t *testing.T, s *site, b *tab) {
	b.open("/tasks?q=task-00131")
	b.press("task-00131")
	b.fill("Reason", "moving house")
	b.press("Pause")
	b.shows("Paused: task-00131.", "moving house")
	s.Want(person, `SELECT paused_by FROM periodic_task WHERE id = 'task-00131'`)
	b.press("Resume")
	b.shows("Resumed: task-00131.")
	s.Want("", `SELECT paused FROM periodic_task WHERE id = 'task-00131'`)
	b.press("Run now")
	b.shows("Submitted: task-00131.")
	s.eventually(t, "1", `SELECT count(*) FROM job WHERE tracker = 'task-00131' AND state = 'waiting'`)
}

func timerIsEdited(t *testing.T, s *site, b *tab) {
	b.open("/task?id=task-00141") // daily
	b.fill("Timer", "weekly")
	b.press("Preview")
	b.shows("Removed: ", "unchanged")
	s.Want("daily", `SELECT timer FROM periodic_task WHERE id = 'task-00141'`)
	b.press("Save this timer")
	b.shows("The timer is saved.")
	s.Want("weekly", `SELECT timer FROM periodic_task WHERE id = 'task-00141'`)

	b.fill("Timer", "every other Tuesday")
	b.press("Preview")
	if b.count("form[method=post] button[value=save], form[method=post] input[name=was]") > 0 {
		t.Errorf("a timer that cannot be read can be saved: %s", b.shown())
	}
	s.Want("weekly", `SELECT timer FROM periodic_task WHERE id = 'task-00141'`)
}

// The page of a running job shows new lines of its log without being loaded again.
func logIsFollowed(t *testing.T, s *site, b *tab) {
	more, done := make(chan string), make(chan struct{})
	s.execute(t, "talk", func(ctx context.Context, job *jobqueue.JobContext) error {
		defer close(done)
		for line := range more {
			job.Logf(jobqueue.Info, "%s", line)
		}
		return nil
	})
	s.Exec(`INSERT INTO job (jid, task) VALUES ('talking', 'talk')`)
	more <- "the first line"
	b.open("/job?id=talking")
	value[bool](b, `window.stays = true`)
	sees := func(text string) { b.waits(`document.querySelector('main').innerText.includes('` + text + `')`) }
	sees("the first line")
	more <- "the second line"
	sees("the second line")
	close(more)
	<-done
	sees("success")
	if !value[bool](b, `window.stays === true`) {
		t.Error("the page was loaded again")
	}
}
