package browser_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/nextrun/nextrun/ops/dashboard"
)

// attacks are texts that run a script where somebody forgets to escape them.
var attacks = []string{
	`<script>window.harmed = 1</script>`,
	`"><img src=x onerror="window.harmed = 1">`,
	`' onmouseover='window.harmed = 1' autofocus onfocus='window.harmed = 1`,
	`</title></textarea></pre></svg><svg onload=window.harmed=1>`,
	`javascript:window.harmed=1//`,
}

// A row full of markup, control characters and marks that turn the direction of text does
// no harm: no script runs, and the text around it stays as it is.
func TestHostileRow(t *testing.T) {
	s := newSite(t, dashboard.Options{Authorize: may})
	evil := "\u202Egnp.\u2066\u200F\x07\x1B[31m\u05E9\u05DC\u05D5\u05DD " + strings.Join(attacks, " ")
	evil = string([]rune(evil)[:250])
	s.Exec(`INSERT INTO periodic_task (id, task, group_, timer, args, subject, submitter, summary, enabled, paused, paused_by, paused_reason)
		VALUES (?, ?, ?, 'hourly', ?, ?, ?, ?, ?, '2026-01-01 08:00:00', ?, ?)`, evil, evil, evil, evil, evil, evil, evil, true, evil, evil)
	s.Exec(`UPDATE periodic_task SET problem = ? WHERE id = ?`, evil, evil)
	s.Exec(`INSERT INTO job (jid, task, group_, args, subject, submitter, tracker, worker, state, result, started, finished)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'failed', ?, '2026-01-01 08:00:00', '2026-01-01 08:00:01')`, evil, evil, evil, evil, evil, evil, evil, evil, evil)
	s.Exec(`INSERT INTO joblog (id, jid, level, created, message, counter) VALUES ('a', ?, ?, '2026-01-01 08:00:00', ?, 1)`, evil, evil, evil)
	s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, reason, jid, decided) VALUES (?, '2026-01-01 08:00:00', 'submitted', ?, ?, '2026-01-01 08:00:00')`, evil, evil, evil)
	s.Exec(`INSERT INTO job_limit (kind, name, max) VALUES ('group', ?, 0), ('task', ?, 1)`, evil, evil)
	b := s.tab(t)
	q := url.QueryEscape(evil)
	for _, path := range []string{"/", "/tasks", "/tasks?q=" + q + "&done=" + q, "/tasks?group=" + q, "/task?id=" + q, "/task?edit=1&id=" + q + "&timer=" + q, "/task?new=1&id=" + q,
		"/run?id=" + q, "/timeline", "/runs", "/runs?task=" + q + "&handler=" + q + "&group=" + q, "/run?job=" + q, "/system?topic=" + q} {
		b.open(path)
		looksHarmless(b, path)
	}
	for _, path := range []string{"/task?id=x" + q, "/run?id=x&at=" + q, "/timeline?zone=" + q, "/tasks?state=" + q, "/" + url.PathEscape(evil)} {
		b.run("open", chromedp.Navigate(s.url+path))
		looksHarmless(b, path)
	}
	b.open("/")
	b.run("look for it", chromedp.SendKeys(`.jump input`, "script"))
	b.waits(`document.querySelector('#found a') !== null`)
	looksHarmless(b, "what was found")
	b.open("/tasks")
	b.run("select the hostile row", chromedp.Click(`(//input[@name="id"])[last()]`))
	b.press("Resume")
	looksHarmless(b, "what an action says")
	s.Want("", `SELECT paused FROM periodic_task WHERE id = ?`, evil)
}

// looksHarmless fails the test if a page ran a script of a row's, has elements that only a
// row can have made, or shows marks that hide or turn text.
func looksHarmless(b *tab, where string) {
	b.Helper()
	if value[bool](b, `window.harmed === 1`) {
		b.Errorf("%s: a script ran", where)
	}
	if n := b.count(`img, main script, [onload], [onerror], [onmouseover], [onfocus], [autofocus], a[href^="javascript"]`); n > 0 {
		b.Errorf("%s: %d elements are made of a row's text", where, n)
	}
	for _, found := range value[[]string](b, `[document.title, document.documentElement.innerText, ...[...document.querySelectorAll('[title], [aria-label]')]
		.map(e => e.title + e.ariaLabel)].filter(t => /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(t))`) {
		b.Errorf("%s: what deceives readers is shown: %q", where, found)
	}
	// Letters that are written from right to left stay within their own element.
	for _, turned := range value[[]string](b, `[...document.querySelectorAll('main p, main td, main li, main dd')].filter(e => e.clientWidth > 1).flatMap(e => {
		const boxes = [...e.children].filter(c => c.matches('a, code, span, time, strong')).flatMap(c => c.getClientRects().length === 1 ? [[c, c.getClientRects()[0]]] : []);
		return boxes.flatMap(([c, r], i) => i > 0 && Math.abs(boxes[i-1][1].top - r.top) < 3 && r.left < boxes[i-1][1].left && r.width > 1 ? [c.outerHTML.slice(0, 200)] : []);
	})`) {
		b.Errorf("%s: turned around: %s", where, turned)
	}
}

// A page of another site can neither act nor read, in the name of somebody who may.
func TestForeignSiteIsRefused(t *testing.T) {
	s := small(t)
	elsewhere := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `<!doctype html><title>a trap</title><form method="post" action="%s/tasks"><input name="id" value="task-00001">
			<input name="action" value="pause"><button>Win a prize</button></form><iframe src="%s/"></iframe>`, s.url, s.url)
	}))
	elsewhere = strings.Replace(elsewhere, "127.0.0.1", foreign, 1)
	b := newTab(t, elsewhere)
	b.open("/")
	b.answers(http.StatusForbidden, "send a form from another site", chromedp.Click(control("Win a prize")))

	b.open("/")
	got := value[string](b, `fetch('`+s.url+`/tasks', {method: 'POST', mode: 'no-cors', credentials: 'include',
		body: new URLSearchParams({id: 'task-00001', action: 'pause'})}).then(() => 'sent', e => 'refused')`)
	if got != "sent" { // and the answer is not readable
		t.Errorf("the request of a script was not sent: %s", got)
	}
	if got := value[string](b, `fetch('`+s.url+`/tasks?format=json').then(r => r.text(), e => 'refused')`); got != "refused" {
		t.Errorf("a script of another site reads %s", got)
	}
	s.Want("", `SELECT paused FROM periodic_task WHERE id = 'task-00001'`)
	s.Want(0, `SELECT count(*) FROM job WHERE state = 'waiting'`)
	if shown := value[bool](b, `frames[0].length === 0 && (() => { try { return frames[0].location.href !== '' } catch { return false } })()`); shown {
		t.Error("another site can show the dashboard in a frame")
	}
	b.heard() // what the browser says about it all
}
