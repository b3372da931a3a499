package browser_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/nextrun/nextrun/ops/dashboard"
)

// pages are all pages of a site that fill has filled.
var pages = []string{"/", "/tasks", "/tasks?state=problem", "/task?id=task-00001&timer=hourly", "/task?id=task-00017", "/tick?id=task-00001",
	"/timeline", "/jobs", "/job?id=task-00001-1", "/job?id=task-00030-1", "/ticks", "/ticks?decision=submitted", "/events", "/scheduler"}

// small makes a site with something on each page.
func small(t *testing.T) *site {
	s := newSite(t, dashboard.Options{Authorize: may})
	s.fill(30, 20)
	return s
}

// states are those that each page is designed for. What the pages say in them is tested where they are made.
var states = []struct {
	name    string
	options dashboard.Options
	prepare func(s *site)
	calm    bool // nothing on any page is red
	pages   []string
}{
	{"no tasks", dashboard.Options{}, func(*site) {}, true, []string{"/", "/tasks?q=zzz", "/timeline?at=2026-01-01T12:00:00Z", "/ticks", "/jobs?state=failed", "/events?topic=x", "/scheduler"}},
	{"one task waits, and who may only read", dashboard.Options{}, func(s *site) {
		s.Exec(`DELETE FROM periodic_task`)
		s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('one', 'echo', 'minutely')`)
		s.Exec(`UPDATE periodic_task SET since = '2999-01-01 00:00:00'`)
		s.Exec(`INSERT INTO job (jid, task, tracker) VALUES ('job-1', 'echo', 'one')`)
	}, true, []string{"/", "/tasks", "/task?id=one", "/tick?id=one", "/timeline", "/jobs", "/job?id=job-1", "/scheduler"}},
	{"many tasks", dashboard.Options{Authorize: may}, func(s *site) { s.fill(200, 20) }, false, pages},
}

// TestLooks opens each page in each state: on screens of all widths, in light and in dark, with axe
// and with the keyboard. Nothing is wider than the screen, and no letter is smaller than 11 pixels.
func TestLooks(t *testing.T) {
	if out, err := exec.Command("axe/install").CombinedOutput(); err != nil {
		t.Fatalf("%s(%v)", out, err)
	}
	axe, err := os.ReadFile("axe/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			s := newSite(t, state.options)
			state.prepare(s)
			b := s.tab(t)
			for _, path := range state.pages {
				b.open(path)
				if n := b.count("main .bad:not(.legend .bad)"); n > 0 && state.calm {
					t.Errorf("%s has %d things in red", path, n)
				}
				if n := b.count("main form[method=post] button"); n > 0 && state.options.Authorize == nil {
					t.Errorf("somebody who may only read sees %d buttons on %s", n, path)
				}
				b.reach("Skip to the content")
				b.keys(kb.Enter)
				b.waits(`document.activeElement.id === 'main'`)
				for _, width := range []int64{360, 768, 1280, 1920} {
					for _, colours := range []string{"light", "dark"} {
						b.looks(width, 900, colours)
						b.fits(path, width)
						if width == 360 && colours == "dark" || width == 1280 && colours == "light" {
							b.audit(string(axe), fmt.Sprintf("%s, %s, %d wide", path, colours, width))
						}
					}
				}
				b.looks(1280, 900, "light")
			}
		})
	}
}

// fits fails the test if something on the page that is open is wider than the screen, or too small to be read.
func (b *tab) fits(path string, width int64) {
	b.Helper()
	if wide := value[int64](b, `document.documentElement.scrollWidth`); wide > width {
		b.Errorf("%s is %d wide on a screen of %d: %s", path, wide, width, value[string](b, `Array.from(document.querySelectorAll("main *")).filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 200)).slice(0, 3).join("; ")`))
	}
	small := value[[]string](b, `Array.from(document.querySelectorAll('main *')).filter(e => !e.closest('svg') && e.innerText?.trim() && parseFloat(getComputedStyle(e).fontSize) < 11).map(e => e.outerHTML.slice(0, 80))`)
	if len(small) > 0 {
		b.Errorf("%s, %d wide: too small: %s", path, width, small)
	}
	sideways := `Array.from(document.querySelectorAll("div:has(> .cards)")).filter(e => e.scrollWidth > e.clientWidth).length`
	if width < 400 && value[int](b, sideways) > 0 {
		b.Errorf("%s: the tasks have to be scrolled sideways on a screen of %d", path, width)
	}
}

// audit fails the test if axe finds something serious on the page that is open.
func (b *tab) audit(axe, where string) {
	b.Helper()
	value[bool](b, axe+"; true")
	found := value[json.RawMessage](b, `axe.run({resultTypes: ['violations']}).then(r => r.violations.map(v => ({id: v.id, impact: v.impact, help: v.help,
		nodes: v.nodes.slice(0, 3).map(n => ({html: n.html.slice(0, 300), failureSummary: n.failureSummary}))})))`)
	var faults []struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML, FailureSummary string }
	}
	if err := json.Unmarshal(found, &faults); err != nil {
		b.Fatal(err)
	}
	for _, f := range faults {
		if f.Impact == "serious" || f.Impact == "critical" {
			b.Errorf("%s: %s: %s (%s) %+v", where, f.Impact, f.Help, f.ID, f.Nodes)
		}
	}
}

// When the database goes away, what was read stays on the screen, and the page says how old it is. A page that is loaded then
// says what is wrong.
func TestDatabaseGoesAway(t *testing.T) {
	s := small(t)
	file := strings.TrimPrefix(s.URL, "sqlite:")
	b := s.tab(t)
	b.open("/tasks")
	if err := os.Rename(file, file+".away"); err != nil {
		t.Fatal(err)
	}
	// Five seconds are the time between two refreshes; in the page they pass at once.
	value[bool](b, `(() => { const now = Date.now; Date.now = () => now() + 60000; return true })()`)
	b.waits(`document.getElementById('live').innerText.startsWith('Not live: as of 1 min')`)
	b.shows("task-00001")
	b.looks(390, 900, "dark")
	b.run("load it again", chromedp.Navigate(b.site+"/tasks"))
	b.waits(`document.querySelector('main [role=alert]') !== null`)
	b.shows("The database does not answer", "is missing", "Try this page again", "Back to the first page")
	b.fits("the error", 390)
	b.heard()
}
