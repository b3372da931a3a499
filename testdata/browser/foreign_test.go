package browser_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

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
