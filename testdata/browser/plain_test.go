package browser_test

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// worksWithoutScripts does the main things in a browser that runs no scripts.
func worksWithoutScripts(t *testing.T, s *site) {
	b := s.tab(t)
	b.run("switch scripts off", command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	b.open("/")
	if value[bool](b, `!document.getElementById('live').hidden`) {
		t.Error("the page ran its script, or shows a button that does nothing without it")
	}
	b.press("Tasks")
	b.fill("Search", "task-0015")
	b.press("Show")
	if n := b.count("main tbody tr"); n != 10 {
		t.Errorf("the search shows %d tasks", n)
	}
	b.choose("task-00151", "task-00152")
	b.fill("Reason", "no scripts here")
	b.press("Pause")
	b.shows("Paused: task-00151, task-00152.", "no scripts here")
	b.choose("task-00151", "task-00152")
	b.press("Resume")
	b.shows("Resumed: task-00151, task-00152.")
	b.choose("task-00151")
	b.press("Run now")
	b.shows("Submitted: task-00151.")
	b.press("task-00151")
	b.fill("Timer", "monthly")
	b.press("Preview")
	b.press("Save this timer")
	s.Want("monthly", `SELECT timer FROM periodic_task WHERE id = 'task-00151'`)

	s.eventually(t, "1", `SELECT count(*) FROM job WHERE tracker = 'task-00151' AND state = 'waiting'`)
	b.press("Jobs")
	b.run("choose", chromedp.SetValue(field("State"), "waiting"))
	b.fill("Task", "task-00151")
	b.press("Show")
	b.answers(200, "open the job", chromedp.Click(`//main//tbody//a[contains(@href, "job?id=")]`))
	b.press("Cancel")
	b.shows("cancelled")
	s.Want(1, `SELECT count(*) FROM job WHERE tracker = 'task-00151' AND state = 'cancelled'`)
}
