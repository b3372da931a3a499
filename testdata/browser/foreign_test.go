package browser_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/chromedp/chromedp"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/dashboard"
)

// A page of another site can neither act nor read, in the name of somebody who may.
func TestForeignSiteIsRefused(t *testing.T) {
	s := small(t, storetest.SQLite)
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

	posts := 0
	for _, r := range s.asked() {
		if strings.HasPrefix(r.what, "POST") {
			if posts++; r.code != http.StatusForbidden {
				t.Errorf("%s: status %d", r.what, r.code)
			}
		}
	}
	if posts != 2 {
		t.Errorf("%d forged requests arrived, want 2", posts)
	}
}

// The dashboard does not answer to the name of another site, even if that name leads to
// it (DNS rebinding).
func TestForeignNameIsRefused(t *testing.T) {
	s := small(t, storetest.SQLite)
	b := newTab(t, strings.Replace(s.url, "127.0.0.1", foreign, 1))
	b.answers(http.StatusMisdirectedRequest, "open by a foreign name", chromedp.Navigate(b.site+"/tasks"))
	if body := value[string](b, `document.body.innerText`); strings.Contains(body, "task-") {
		t.Errorf("it shows %s", body)
	}
}

// Without a name and a password there is nothing to see and nothing to do.
func TestStrangersAreRefused(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("s3cret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	who, err := dashboard.Passwords(strings.NewReader("ada:"+string(hash)), dashboard.Act, dashboard.Logins{})
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, storetest.SQLite, dashboard.Options{Authorize: who})
	s.fill(30, 20)
	b := s.tab(t)
	if err := chromedp.Do(b.ctx, chromedp.Navigate(s.url+"/tasks")); err == nil {
		t.Errorf("a stranger sees %s", b.shown())
	}
	for _, r := range s.asked() {
		if r.code != http.StatusUnauthorized {
			t.Errorf("%s: status %d", r.what, r.code)
		}
	}

	known := newTab(t, strings.Replace(s.url, "://", "://ada:s3cret@", 1))
	known.open("/tasks")
	known.shows("task-00001")
	for _, test := range []struct {
		credentials string
		want        int
	}{{"omit", http.StatusUnauthorized}, {"include", http.StatusOK}} {
		s.Want("", `SELECT paused_by FROM periodic_task WHERE id = 'task-00001'`)
		code := value[int](known, `fetch(location.origin + '/tasks', {method: 'POST', credentials: '`+test.credentials+`',
			body: new URLSearchParams({id: 'task-00001', action: 'pause', back: 'tasks'})}).then(r => r.status)`)
		if code != test.want {
			t.Errorf("an action with %s of credentials: status %d, want %d", test.credentials, code, test.want)
		}
	}
	s.Want("ada", `SELECT paused_by FROM periodic_task WHERE id = 'task-00001'`)
}
