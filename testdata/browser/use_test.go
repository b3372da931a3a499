package browser_test

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/nextrun/nextrun/jobqueue"
)

// keys presses keys, wherever the focus is.
func (b *tab) keys(text string) {
	b.Helper()
	b.run("type", chromedp.KeyEvent(text))
}

// focused is how a screen reader might name what has the focus.
const focused = `(e => e.getAttribute('aria-label') || e.labels?.[0]?.innerText.trim() || e.innerText.trim())(document.activeElement)`

// reach presses Tab until the focus is on what has this name, which must be marked so
// that people see it.
func (b *tab) reach(name string) {
	b.Helper()
	seen := ""
	for range 200 {
		b.keys(kb.Tab)
		now := value[string](b, focused)
		if now == name {
			if value[string](b, `getComputedStyle(document.activeElement).outlineStyle`) == "none" {
				b.Errorf("nobody sees that %q has the focus", name)
			}
			return
		}
		seen += now + "\n"
	}
	b.Fatalf("200 presses of Tab do not reach %q; they reach:\n%s", name, seen)
}

// choose selects tasks of the page.
func (b *tab) choose(ids ...string) {
	b.Helper()
	for _, id := range ids {
		b.run("select "+id, chromedp.Click(`//input[@name="id" and @value="`+id+`"]`))
	}
}

// The page says how many tasks are selected, and selects all at once.
func TestSeveralAreChanged(t *testing.T) {
	s := small(t)
	b := s.tab(t)
	b.open("/tasks?q=task-0002")
	b.choose("task-00021", "task-00022")
	b.waits(`document.querySelector('#selected').innerText === '2 selected'`)
	b.fill("Reason", "the disk is full")
	b.press("Pause")
	b.shows("Paused: task-00021, task-00022.", "the disk is full", "by "+person)
	b.run("select all of the page", chromedp.Click(`#all`))
	b.waits(`document.querySelector('#selected').innerText === '10 selected'`)
	b.press("Resume")
	b.shows("Resumed: 10 tasks.")
	s.Want(0, `SELECT count(*) FROM periodic_task WHERE id LIKE 'task-0002%' AND paused IS NOT NULL`)
}

// While somebody types a timer, the page shows what it would change.
func TestTimerIsTriedWhileTyped(t *testing.T) {
	b := small(t).tab(t)
	b.open("/task?id=task-00001") // daily
	b.fill("Timer", "weekly")
	b.waits(`document.querySelector('#edit').innerText.includes('Removed: ')`)
	b.fill("Timer", "Mun")
	b.waits(`document.querySelector('#edit').innerText.includes('did you mean')`)
	if b.count("#edit button") > 0 {
		t.Error("a timer that cannot be read can be saved")
	}
}

// The page of a running job shows new lines of its log without being loaded again.
func TestLogIsFollowed(t *testing.T) {
	s := small(t)
	b := s.tab(t)
	more, done := make(chan string), make(chan struct{})
	s.execute(t, "talk", func(_ context.Context, job *jobqueue.JobContext) error {
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

// A browser that runs no scripts does all of the main things.
func TestWithoutScripts(t *testing.T) {
	s := small(t)
	b := s.tab(t)
	b.run("switch scripts off", command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	b.open("/")
	if value[bool](b, `!document.getElementById('live').hidden`) {
		t.Error("the page ran its script, or shows a button that does nothing without it")
	}
	b.press("Tasks")
	b.fill("Search", "task-0002")
	b.press("Show")
	if n := b.count("main tbody tr"); n != 10 {
		t.Errorf("the search shows %d tasks", n)
	}
	b.choose("task-00021", "task-00022")
	b.fill("Reason", "no scripts here")
	b.press("Pause")
	b.shows("Paused: task-00021, task-00022.", "no scripts here")
	b.choose("task-00021", "task-00022")
	b.press("Resume")
	b.shows("Resumed: task-00021, task-00022.")
	b.choose("task-00021")
	b.press("Run now")
	b.shows("Submitted: task-00021.")
	b.press("task-00021")
	b.fill("Timer", "monthly")
	b.press("Preview")
	b.press("Save this timer")
	s.Want("monthly", `SELECT timer FROM periodic_task WHERE id = 'task-00021'`)

	s.Exec(`INSERT INTO job (jid, task) VALUES ('waits', 'nobody')`)
	b.press("Jobs")
	b.run("choose", chromedp.SetValue(field("State"), "waiting"))
	b.press("Show")
	b.answers(200, "open the job", chromedp.Click(`//main//tbody//a[contains(@href, "job?id=waits")]`))
	b.press("Cancel")
	b.shows("cancelled")
	s.Want("cancelled", `SELECT state FROM job WHERE jid = 'waits'`)
}

// Somebody finds a task, pauses it and edits its timer without a mouse.
func TestKeyboardIsEnough(t *testing.T) {
	s := small(t)
	b := s.tab(t)
	b.open("/")
	b.reach("Tasks")
	b.answers(200, "press Enter on Tasks", chromedp.KeyEvent(kb.Enter))
	b.reach("Search")
	b.keys("task-00021")
	b.answers(200, "press Enter in the search", chromedp.KeyEvent(kb.Enter))
	b.reach("Reason")
	b.keys("typed")
	b.reach("Select task-00021")
	b.keys(" ")
	b.waits(`document.activeElement.checked`)
	for value[string](b, focused) != "Pause" {
		b.run("press Shift and Tab", chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift)))
	}
	b.answers(200, "press Space on Pause", chromedp.KeyEvent(" "))
	b.shows("Paused: task-00021.")
	s.Want("typed", `SELECT paused_reason FROM periodic_task WHERE id = 'task-00021'`)

	b.reach("task-00021")
	b.answers(200, "press Enter on the task", chromedp.KeyEvent(kb.Enter))
	b.reach("Timer")
	b.keys("yearly") // in place of the old timer, which is selected
	b.answers(200, "press Enter in the timer", chromedp.KeyEvent(kb.Enter))
	b.reach("Save this timer")
	b.answers(200, "press Enter on Save", chromedp.KeyEvent(kb.Enter))
	s.Want("yearly", `SELECT timer FROM periodic_task WHERE id = 'task-00021'`)
}
