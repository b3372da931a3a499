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
	b.run("open the menu", chromedp.Click(control("Pause…")))
	b.fill("Reason", "the disk is full")
	b.press("Pause")
	b.shows("Paused: task-00021, task-00022.", "the disk is full", "by "+person)
	b.run("select all of the page", chromedp.Click(`#all`))
	b.waits(`document.querySelector('#selected').innerText === '10 selected'`)
	b.press("Resume")
	b.shows("Resumed: 10 tasks.")
	s.Want(0, `SELECT count(*) FROM periodic_task WHERE id LIKE 'task-0002%' AND paused IS NOT NULL`)
}

// While somebody types, the page shows what a change would do, and which tasks are like that.
func TestPagesFollowWhatIsTyped(t *testing.T) {
	b := small(t).tab(t)
	b.open("/task?id=task-00001&edit=1") // daily
	b.fill("Timer", "weekly")
	b.waits(`document.querySelector('#effect').innerText.includes('UPDATE periodic_task')`)
	b.fill("Timer", "Mun")
	b.waits(`document.querySelector('#effect').innerText.includes('did you mean')`)
	b.open("/tasks")
	b.run("filter", chromedp.SendKeys(`.tools input[name=q]`, "task-0002"))
	b.waits(`document.querySelectorAll('main tbody tr').length === 10`)
	if at := value[string](b, `location.search`); at != "?q=task-0002" {
		t.Errorf("the address is that of another list: %s", at)
	}
}

// A slash or Ctrl and K leads to any task, run or page.
func TestJump(t *testing.T) {
	b := small(t).tab(t)
	b.open("/tasks")
	// Keys of the protocol do what they do without the page, too: a slash is typed, and Enter sends the form.
	press := func(key string) {
		t.Helper()
		value[bool](b, `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {`+key+`, bubbles: true, cancelable: true})) || true`)
	}
	jump := func(key, what, found, page string) {
		t.Helper()
		press(key)
		b.waits(`document.activeElement.matches('.jump input')`)
		b.keys(what)
		b.waits(`!!document.querySelector('#found a')?.innerText.startsWith('` + found + `')`)
		press(`key: 'Enter'`)
		b.waits(`document.readyState === 'complete' && document.body.dataset.page === '` + page + `'`)
	}
	jump(`key: '/'`, "task-00021", "task-00021", "task")
	b.shows("task-00021")
	jump(`key: 'k', ctrlKey: true`, "task-00001-1", "task-00001 ", "run")
	jump(`key: '/'`, "time", "Timeline", "timeline")
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
	b.open("/run?job=talking")
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
	b.answers(200, "jump", chromedp.SendKeys(`.jump input`, "task-0002"+kb.Enter))
	if n := b.count("main tbody tr"); n != 10 {
		t.Errorf("the search shows %d tasks", n)
	}
	b.choose("task-00021", "task-00022")
	b.run("open the menu", chromedp.Click(control("Pause…")))
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
	b.press("Edit")
	b.fill("Timer", "monthly")
	b.press("Preview")
	b.shows("UPDATE periodic_task SET timer = 'monthly'")
	b.press("Save")
	s.Want("monthly", `SELECT timer FROM periodic_task WHERE id = 'task-00021'`)

	s.Exec(`INSERT INTO job (jid, task) VALUES ('waits', 'nobody')`)
	b.press("Runs")
	b.press("Waiting2")
	b.answers(200, "open the job", chromedp.Click(`//main//tbody//a[contains(@href, "job=waits")]`))
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
	b.reach("Filter the tasks")
	b.keys("task-00021")
	b.waits(`document.querySelectorAll('main tbody tr').length === 1`)
	b.reach("Select task-00021")
	b.keys(" ")
	b.waits(`document.activeElement.checked`)
	b.reach("Pause…")
	b.keys(kb.Enter)
	b.reach("Reason")
	b.keys("typed")
	b.reach("Pause")
	b.answers(200, "press Space on Pause", chromedp.KeyEvent(" "))
	b.shows("Paused: task-00021.")
	s.Want("typed", `SELECT paused_reason FROM periodic_task WHERE id = 'task-00021'`)

	b.reach("task-00021")
	b.answers(200, "press Enter on the task", chromedp.KeyEvent(kb.Enter))
	b.reach("Edit")
	b.answers(200, "press Enter on Edit", chromedp.KeyEvent(kb.Enter))
	b.reach("Timer")
	b.keys("yearly") // in place of the old timer, which is selected
	b.reach("Save")
	b.answers(200, "press Enter on Save", chromedp.KeyEvent(kb.Enter))
	s.Want("yearly", `SELECT timer FROM periodic_task WHERE id = 'task-00021'`)
}
