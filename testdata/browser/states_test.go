package browser_test

import (
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/dashboard"
)

// says is the sentence of the first page, and whether there is anything red on it.
func (b *tab) says(path string) (sentence string, red bool) {
	b.Helper()
	b.open(path)
	return value[string](b, `document.querySelector('h1').innerText.trim()`), b.count("main .bad") > 0
}

// Each state that a first page can be in has a sentence of its own.
func TestStatesOfNow(t *testing.T) {
	s := newSite(t, storetest.SQLite, dashboard.Options{})
	b := s.tab(t)
	wants := func(path, sentence string, red bool, texts ...string) {
		t.Helper()
		if got, isRed := b.says(path); got != sentence || isRed != red {
			t.Errorf("%s says %q, red: %t; want %q, red: %t", path, got, isRed, sentence, red)
		}
		b.shows(texts...)
		if title := value[string](b, `document.title`); title != sentence+" · nextrun" {
			t.Errorf("the title is %q", title)
		}
	}
	wants("/", "No tasks yet", false, "INSERT INTO periodic_task")

	s.Exec(`DELETE FROM periodic_task`)
	s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('the-only-one', 'echo', 'minutely')`)
	wants("/", "No scheduler is known to run", false, "not planned yet") // it was added a moment ago
	s.Exec(`UPDATE periodic_task SET since = '2026-01-01 00:00:00'`)
	wants("/", "No scheduler has run yet", true, "Tasks are planned when one starts")

	s.Exec(`UPDATE periodic_task SET nextrun = '2026-01-01 00:00:00'`)
	s.Exec(`UPDATE periodic_task SET since = '2026-01-01 00:00:00'`)
	s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('the-only-one', '2026-01-01 00:00:00', 'skipped', '2026-01-01 00:00:00')`)
	wants("/", "No scheduler runs, and 1 task is due", true, "Start one: nextrun serve")

	s.schedule(t)
	s.eventually(t, "1", `SELECT count(*) FROM job WHERE state = 'waiting'`)
	wants("/", "The task needs attention", false, "1 job is waiting, and no executor is known to run", "nextrun executor --config FILE")
}

// While somebody types a timer, the page shows what it would change.
func TestTimerIsTriedWhileTyped(t *testing.T) {
	s := small(t, storetest.SQLite)
	b := s.tab(t)
	b.open("/task?id=task-00001") // daily
	b.fill("Timer", "weekly")
	b.waits(`document.querySelector('#edit').innerText.includes('Removed: ')`)
	b.fill("Timer", "Mun")
	b.waits(`document.querySelector('#edit').innerText.includes('did you mean')`)
	if b.count("#edit button") > 0 {
		t.Error("a timer that cannot be read can be saved")
	}
}

// Pages weigh little, also with many tasks, and say nothing again that has not changed.
func TestWeight(t *testing.T) {
	s := newSite(t, storetest.SQLite, dashboard.Options{Authorize: may})
	s.fill(5000, 100)
	weigh := func(path string, more map[string]string) (int64, http.Header, int) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", "gzip")
		for name, value := range more {
			r.Header.Set(name, value)
		}
		began := time.Now()
		answer, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		n, err := io.Copy(io.Discard, answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%6d bytes %4d ms  %s", n, time.Since(began).Milliseconds(), path)
		return n, answer.Header, answer.StatusCode
	}
	common := int64(0)
	for _, file := range []string{"/static/style.css", "/static/script.js", "/static/icon.svg"} {
		n, _, _ := weigh(file, nil)
		common += n
	}
	for _, path := range []string{"/", "/?page=2", "/tasks", "/task?id=task-00001", "/task?id=task-00003&timer=hourly", "/jobs", "/events", "/scheduler"} {
		n, header, _ := weigh(path, nil)
		if n+common > 100_000 || header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: %d bytes, with style and script %d; encoding %q", path, n, n+common, header.Get("Content-Encoding"))
		}
		n, header, _ = weigh(path, map[string]string{"X-Part": "main"})
		if n > 20_000 {
			t.Errorf("a refresh of %s has %d bytes", path, n)
		}
		if n, _, code := weigh(path, map[string]string{"X-Part": "main", "If-None-Match": header.Get("ETag")}); n > 0 || code != http.StatusNotModified {
			t.Errorf("%s: a refresh without news has %d bytes, status %d", path, n, code)
		}
	}
	if script, err := os.Stat("../../ops/dashboard/static/script.js"); err != nil || script.Size() > 15_000 {
		t.Errorf("the script: %v %v", script, err)
	}
}
