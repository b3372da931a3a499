package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/dashboard"
)

// inState is a state that each page is designed for.
type inState struct {
	name    string
	options dashboard.Options
	prepare func(s *site)
	red     bool                // something is wrong; otherwise nothing on any page is red
	pages   map[string][]string // what one reads on each of them
}

// only makes a task the only one, as it was added long ago, and due in the next hour.
func (s *site) only(id string) {
	s.Exec(`DELETE FROM periodic_task`)
	s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES (?, 'echo', 'hourly', `+s.at(60)+`)`, id)
	s.Exec(`UPDATE periodic_task SET due = nextrun`)
	s.Exec(`UPDATE periodic_task SET since = '2026-01-01 00:00:00'`)
}

// at is the full hour some minutes from now, in SQL.
func (s *site) at(minutes int) string {
	if s.Kind == storetest.Postgres {
		return fmt.Sprintf(`date_trunc('hour', now() AT TIME ZONE 'utc' + %d * interval '1 minute')`, minutes)
	}
	return fmt.Sprintf(`strftime('%%Y-%%m-%%d %%H:00:00.000000', 'now', '%d minutes')`, minutes)
}

// runs adds services that run, an executor with four places.
func (s *site) runs(kinds ...string) {
	for _, kind := range kinds {
		s.Exec(`INSERT INTO worker (id, kind, version, started, seen, places, handlers) VALUES (?, ?, 'v1', '2026-01-01 00:00:00', '2999-01-01 00:00:00', 4, '[]')`, kind+"@1", kind)
	}
}

// ran adds a tick and its job.
func (s *site) ran(id, state, result string) {
	at := s.at(0)
	s.Exec(`INSERT INTO job (jid, task, tracker, state, due, submitted, started, finished, result, worker) VALUES ('job-1', 'echo', ?, ?, `+at+`, `+at+`, `+at+`, `+at+`, ?, 'e@1')`, id, state, result)
	s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided, jid) VALUES (?, `+at+`, 'submitted', `+at+`, 'job-1')`, id)
}

var everyState = []inState{
	{
		name: "no tasks", prepare: func(*site) {},
		pages: map[string][]string{
			"/": {"No tasks yet", "INSERT INTO periodic_task"}, "/tasks": {"No task"}, "/tasks?q=zzz": {"No task is like that", "Show all tasks"},
			"/timeline?at=2026-01-01T12:00:00Z": {"Nothing ran and nothing is planned"},
			"/ticks":                            {"No tick of this time was skipped, missed or late", "Those of the last 7 days"}, "/jobs": {"No job yet"}, "/jobs?state=failed": {"No such job in nextrun's own queue", "Show all jobs"}, "/events": {"everything is published", "No event yet"}, "/events?topic=x": {"Show all events"},
			"/scheduler": {"No scheduler, executor or relay runs", "nextrun serve", "No job of nextrun's own queue waits or runs."},
		},
	},
	{
		name: "the first minute", prepare: func(s *site) {
			s.Exec(`DELETE FROM periodic_task`)
			s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('one', 'echo', 'minutely')`)
			s.Exec(`UPDATE periodic_task SET since = '2999-01-01 00:00:00'`) // the minute lasts as long as the test
		},
		pages: map[string][]string{
			"/": {"No scheduler is known to run", "not planned yet", "Nothing has run yet"}, "/tasks": {"one", "none yet", "not planned yet"},
			"/task?id=one": {"It is not planned yet, and no scheduler runs", "nextrun serve", "No tick yet"}, "/tick?id=one": {"No tick of", "The next tick after it"},
			"/timeline": {"all tasks", "planned, as long as it usually takes"}, "/jobs": {"No job yet"}, "/events": {"No event yet"}, "/scheduler": {"nextrun serve"},
		},
	},
	{
		name: "no executor", options: dashboard.Options{Authorize: may}, prepare: func(s *site) {
			s.only("one")
			s.runs("scheduler")
			s.ran("one", "waiting", "")
			s.Exec(`UPDATE job SET started = NULL, finished = NULL, worker = NULL`)
		},
		pages: map[string][]string{
			"/": {"1 job is waiting, and no executor is known to run", "nextrun executor --config FILE"}, "/tasks": {"waiting"}, "/task?id=one": {"no executor runs", "nextrun executor"},
			"/tick?id=one": {"no executor runs", "waits"}, "/timeline": {"one"}, "/jobs": {"waiting"},
			"/job?id=job-1": {"no executor runs", "nextrun executor", "Cancel"}, "/events": {"No event yet"}, "/scheduler": {"scheduler", "default"},
		},
	},
	{
		name: "one task", options: dashboard.Options{Authorize: may}, prepare: func(s *site) { s.only("one"); s.runs("scheduler", "executor"); s.ran("one", "success", "") },
		pages: map[string][]string{
			"/": {"The task is on time", "0 of 4 places are taken", "Each cell is half an hour"}, "/tasks": {"success"}, "/task?id=one": {"ok", "shown after three successful runs", "Run now"},
			"/tick?id=one": {"ran and succeeded", "attempt 1"}, "/ticks?decision=submitted": {"one", "submitted"}, "/timeline": {"of 4 places"}, "/jobs": {"success"},
			"/job?id=job-1": {"success", "Nothing yet."}, "/events": {"No event yet"}, "/scheduler": {"executor", "places: 4"},
		},
	},
	{
		name: "a failure, and no rights", red: true, prepare: func(s *site) {
			s.only("one")
			s.runs("scheduler", "executor")
			s.ran("one", "failed", "no space left on device")
		},
		pages: map[string][]string{
			"/": {"The task needs attention", "no space left on device", "Its log"}, "/tasks": {"failed"},
			"/task?id=one": {"Its last run failed", "no success before it", "You can only read here", "nextrun task run one", "nextrun job retry job-1"},
			"/tick?id=one": {"ran and failed", "no space left on device"}, "/timeline": {"missed or late"}, "/jobs": {"no space left on device"},
			"/job?id=job-1": {"no space left on device", "nextrun job retry job-1"}, "/events": {"No event yet"}, "/scheduler": {"executor"},
		},
	},
	{
		name: "5,000 tasks", red: true, options: dashboard.Options{Authorize: may}, prepare: func(s *site) { s.fill(5000, 20); s.runs("scheduler", "executor") },
		pages: map[string][]string{
			"/": {"tasks need attention", "all tasks that need attention", "Earlier ones"}, "/tasks": {"task-00049", "Next page"}, "/task?id=task-00017": {"cannot be read", "History"},
			"/tick?id=task-00001": {"ran and succeeded", "line 800 of the log"}, "/ticks?last=7+days": {"did not run"}, "/timeline": {"group-7", "of 4 places"}, "/jobs": {"task-05000"},
			"/job?id=task-00001-1": {"More"}, "/events": {"No event yet"}, "/scheduler": {"executor"},
		},
	},
}

// TestEveryState opens each page in each state: on screens of all widths, in light and in dark, with axe
// and with the keyboard.
func TestEveryState(t *testing.T) {
	if out, err := exec.Command("axe/install").CombinedOutput(); err != nil {
		t.Fatalf("%s(%v)", out, err)
	}
	axe, err := os.ReadFile("axe/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range everyState {
		t.Run(state.name, func(t *testing.T) {
			s := newSite(t, storetest.SQLite, state.options)
			state.prepare(s)
			b := s.tab(t)
			paths := slices.Sorted(maps.Keys(state.pages))
			for _, path := range paths {
				b.open(path)
				b.shows(state.pages[path]...)
				if n := b.count("main .bad:not(.legend .bad)"); n > 0 && !state.red {
					t.Errorf("%s has %d things in red", path, n)
				}
				if n := b.count("main form[method=post] button"); n > 0 && state.options.Authorize == nil {
					t.Errorf("somebody who may only read sees %d buttons on %s", n, path)
				}
				b.reach("Skip to the content")
				b.keys(kb.Enter)
				b.waits(`document.activeElement.id === 'main'`)
			}
			b.looksGood(string(axe), paths...)
		})
	}
}

// faultsOf are what axe finds on the page that is open, and is serious.
func (b *tab) faultsOf(axe string) (serious []string) {
	b.Helper()
	value[bool](b, axe+"; true")
	found := value[json.RawMessage](b, `axe.run({resultTypes: ['violations']}).then(r => r.violations.map(v => ({id: v.id, impact: v.impact, help: v.help,
		nodes: v.nodes.slice(0, 3).map(n => ({html: n.html.slice(0, 300), failureSummary: n.failureSummary}))})))`)
	var faults []fault
	if err := json.Unmarshal(found, &faults); err != nil {
		b.Fatal(err)
	}
	for _, f := range faults {
		if text := fmt.Sprintf("%s: %s (%s) %+v", f.Impact, f.Help, f.ID, f.Nodes); f.Impact == "serious" || f.Impact == "critical" {
			serious = append(serious, text)
		}
	}
	return serious
}

// looksGood opens pages on screens of all widths, in both colours: nothing is wider than the screen, no letter is smaller than 11
// pixels, and axe finds nothing serious where the screen is narrow and dark or wide and light. With NEXTRUN_SHOTS, a folder, it takes
// pictures.
func (b *tab) looksGood(axe string, paths ...string) {
	b.Helper()
	for _, width := range []int64{390, 768, 1280, 1920} {
		for _, colours := range []string{"light", "dark"} {
			b.looks(width, 900, colours)
			for _, path := range paths {
				b.open(path)
				if wide := value[int64](b, `document.documentElement.scrollWidth`); wide > width {
					b.Errorf("%s is %d wide on a screen of %d", path, wide, width)
				}
				small := value[[]string](b, `Array.from(document.querySelectorAll('main *')).filter(e => !e.closest('svg') && e.innerText?.trim() && parseFloat(getComputedStyle(e).fontSize) < 11).map(e => e.outerHTML.slice(0, 80))`)
				if len(small) > 0 {
					b.Errorf("%s, %d wide: too small: %s", path, width, small)
				}
				if width < 400 == (colours == "dark") && width != 768 && width < 1900 {
					for _, fault := range b.faultsOf(axe) {
						b.Errorf("%s, %d wide, %s: %s", path, width, colours, fault)
					}
				}
				if folder := os.Getenv("NEXTRUN_SHOTS"); folder != "" && width != 768 && width < 1900 {
					b.picture(fmt.Sprintf("%s/%s-%d-%s.png", folder, strings.NewReplacer("/", "_", "?", "_", " ", "_").Replace(b.Name()+path), width, colours))
				}
			}
		}
	}
	b.looks(1280, 900, "light")
}

// picture writes a picture of the page, all of it, to a file.
func (b *tab) picture(file string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	taken, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: new(true)})
	if err == nil {
		err = os.WriteFile(file, taken.Data, 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// When the database goes away, what was read stays on the screen, and the page says how old it is. A page that is loaded then
// says what is wrong.
func TestDatabaseGoesAway(t *testing.T) {
	s := newSite(t, storetest.SQLite, dashboard.Options{})
	s.fill(3, 5)
	file := strings.TrimPrefix(s.URL, "sqlite:")
	move := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"/", "/tasks", "/task?id=task-00001", "/tick?id=task-00001", "/ticks", "/jobs", "/job?id=task-00001-1", "/events", "/scheduler", "/timeline"} {
		b := s.tab(t)
		b.open(path)
		title := value[string](b, `document.querySelector('h1').innerText`)
		move(file, file+".away")
		if b.count("[data-still]") == 0 {
			// Five seconds are the time between two refreshes; in the page they pass at once.
			value[bool](b, `(() => { const now = Date.now; Date.now = () => now() + 60000; return true })()`)
			b.waits(`document.getElementById('live').innerText.startsWith('Not live: as of 1 min')`)
			if now := value[string](b, `document.querySelector('h1').innerText`); now != title {
				t.Errorf("%s: what was there is gone, and there is %q", path, now)
			}
		}
		for _, colours := range []string{"light", "dark"} {
			b.looks(390, 900, colours)
			b.run("load it again", chromedp.Navigate(b.site+path))
			b.waits(`document.querySelector('main [role=alert]') !== null`)
			b.shows("The database does not answer", "is missing", "Try this page again", "Back to the first page")
			if wide := value[int](b, `document.documentElement.scrollWidth`); wide > 390 {
				t.Errorf("the error of %s is %d wide", path, wide)
			}
		}
		move(file+".away", file)
		b.heard()
	}
}
