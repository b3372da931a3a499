package browser_test

import (
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
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

// keyboardIsEnough finds a task, pauses it and edits its timer without a mouse.
func keyboardIsEnough(s *site, b *tab) {
	b.open("/")
	b.reach("Skip to the content")
	b.keys(kb.Enter)
	b.waits(`document.activeElement.id === 'main'`)

	b.open("/")
	b.reach("Tasks")
	b.answers(200, "press Enter on Tasks", chromedp.KeyEvent(kb.Enter))
	b.reach("Search")
	b.keys("task-00161")
	b.answers(200, "press Enter in the search", chromedp.KeyEvent(kb.Enter))
	b.reach("Reason")
	b.keys("typed")
	b.reach("Select task-00161")
	b.keys(" ")
	b.waits(`document.activeElement.checked`)
	for value[string](b, focused) != "Pause" {
		b.keysBack()
	}
	b.answers(200, "press Space on Pause", chromedp.KeyEvent(" "))
	b.shows("Paused: task-00161.")
	s.Want("typed", `SELECT paused_reason FROM periodic_task WHERE id = 'task-00161'`)

	b.reach("task-00161")
	b.answers(200, "press Enter on the task", chromedp.KeyEvent(kb.Enter))
	b.reach("Timer")
	b.keys("yearly") // in place of the old timer, which is selected
	b.answers(200, "press Enter in the timer", chromedp.KeyEvent(kb.Enter))
	b.reach("Save this timer")
	b.answers(200, "press Enter on Save", chromedp.KeyEvent(kb.Enter))
	s.Want("yearly", `SELECT timer FROM periodic_task WHERE id = 'task-00161'`)
}

// keysBack moves the focus back.
func (b *tab) keysBack() {
	b.Helper()
	b.run("press Shift and Tab", chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift)))
}
