package browser_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/nextrun/nextrun/ops/dashboard"
)

// pages are all pages of a site that fill has filled.
var pages = []string{"/", "/tasks", "/tasks?state=problem", "/task?id=task-00001&edit=1&timer=hourly", "/task?id=task-00017", "/task?new=1",
	"/runs", "/runs?state=not-run", "/run?id=task-00001", "/run?job=task-00001-1", "/run?job=task-00030-1", "/timeline", "/system"}

// small makes a site with something on each page.
func small(t *testing.T) *site {
	s := newSite(t, dashboard.Options{Authorize: may})
	s.fill(30, 20)
	return s
}

// one adds a task with a run.
func (s *site) one(state string) {
	s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('one', 'echo', 'hourly')`)
	s.Exec(`UPDATE periodic_task SET since = '2999-01-01 00:00:00'`)
	s.Exec(`INSERT INTO job (jid, task, tracker, state, due, submitted, started, finished, result) VALUES ('job-1', 'echo', 'one', ?, '2026-01-01 08:00:00', '2026-01-01 08:00:00', NULL, NULL, NULL)`, state)
	s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, jid, decided) VALUES ('one', '2026-01-01 08:00:00', 'submitted', 'job-1', '2026-01-01 08:00:00')`)
}

// states are those that each page is designed for; that in which the database is down has a test of its own. What the pages say in them is
// tested where they are made.
var states = []struct {
	name    string
	options dashboard.Options
	prepare func(s *site)
	calm    bool // nothing on any page is red
	pages   []string
}{
	{"no tasks", dashboard.Options{}, func(*site) {}, true, []string{"/", "/tasks", "/tasks?q=zzz", "/timeline", "/runs", "/runs?state=failed", "/system"}},
	{"the first run, and who may only read", dashboard.Options{}, func(s *site) { s.one("waiting") }, true, []string{"/", "/tasks", "/task?id=one", "/run?id=one", "/timeline", "/runs", "/system"}},
	{"one task fails", dashboard.Options{Authorize: may}, func(s *site) {
		s.one("failed")
		s.Exec(`UPDATE job SET started = '2026-01-01 08:00:00', finished = '2026-01-01 08:00:09', result = 'exit status 3: no space left on device'`)
	}, false, []string{"/", "/tasks", "/task?id=one", "/run?id=one", "/runs", "/system"}},
	{"the shop", dashboard.Options{Authorize: may}, func(s *site) { furnish(s, strings.TrimPrefix(s.URL, "sqlite:")) }, false,
		[]string{"/", "/tasks", "/task?id=stock-sync", "/task?id=feed-partner", "/run?id=price-import", "/runs", "/runs?state=failed", "/jump?q=s", "/timeline", "/system"}},
	{"many tasks", dashboard.Options{Authorize: may}, func(s *site) { s.fill(1000, 20) }, false, pages},
}

// TestLooks opens each page in each state: on a phone and on a screen, in light and in dark, with axe and with the keyboard. Nothing is
// wider than the screen, no letter is smaller than 11 pixels, no box is empty, and no sentence stands there twice.
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
				for _, width := range []int64{390, 1280} {
					for _, colours := range []string{"light", "dark"} {
						b.looks(width, 900, colours)
						b.fits(path, width)
						if (width == 390) == (colours == "dark") {
							b.audit(string(axe), fmt.Sprintf("%s, %s, %d wide", path, colours, width))
						}
					}
				}
				b.looks(1280, 900, "light")
			}
		})
	}
}

// fits fails the test if something on the page that is open is wider than the screen, too small to be read, empty, or there twice.
func (b *tab) fits(path string, width int64) {
	b.Helper()
	if wide := value[int64](b, `document.documentElement.scrollWidth`); wide > width {
		b.Errorf("%s is %d wide on a screen of %d: %s", path, wide, width, value[string](b, `Array.from(document.querySelectorAll("main *")).filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 200)).slice(0, 3).join("; ")`))
	}
	for what, script := range map[string]string{
		"too small": `Array.from(document.querySelectorAll('main *')).filter(e => !e.closest('svg') && e.innerText?.trim() && parseFloat(getComputedStyle(e).fontSize) < 11).map(e => e.outerHTML.slice(0, 80))`,
		"empty":     `Array.from(document.querySelectorAll('main :is(.card, .note, pre, section, table, ul, ol, h2)')).filter(e => !e.textContent.trim()).map(e => e.outerHTML.slice(0, 80))`,
		"said twice": `(said => said.filter((s, i) => said.indexOf(s) !== i))(Array.from(document.querySelectorAll('main :is(h1, .sub, .note, p.none)')).flatMap(e => e.innerText.split(/[.:;,·]\s/))
			.map(s => s.trim().replace(/[.]$/, '').toLowerCase()).filter(s => s.split(' ').length > 3))`,
	} {
		if found := value[[]string](b, script); len(found) > 0 {
			b.Errorf("%s, %d wide: %s: %s", path, width, what, found)
		}
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
	b.waits(`document.getElementById('live').innerText.startsWith('As of 1 min')`)
	b.shows("task-00001")
	b.looks(390, 900, "dark")
	b.run("load it again", chromedp.Navigate(b.site+"/tasks"))
	b.waits(`document.querySelector('main [role=alert]') !== null`)
	b.shows("The database does not answer", "is missing", "Try this page again", "Back to the first page")
	b.fits("the error", 390)
	b.heard()
}

// lowTargets are the links, buttons and fields that a finger hits on less than 40 pixels of height. The first link of a
// row is all of it, so it counts what leads there, not how high the text is. What a drawing leads to is in a table, too.
const lowTargets = `Array.from(document.querySelectorAll('a[href], button, summary, select, input:not([type=hidden])')).flatMap(e => {
	if (!e.checkVisibility({visibilityProperty: true, contentVisibilityAuto: true}) || e.closest('.skip:not(:focus), svg') || getComputedStyle(e).pointerEvents === 'none') return [];
	e.scrollIntoView({block: 'center'});
	const r = e.getClientRects()[0];
	if (!r || r.width < 2 || r.height < 2) return [];
	const hit = y => {
		const at = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2 + y)?.closest('a, button, summary, select, input, label');
		return at && (at === e || at.contains(e) || at.href && at.href === e.href);
	};
	let high = 0;
	for (let y = 0; y < 40 && hit(y); y++) high++;
	for (let y = -1; y > -40 && hit(y); y--) high++;
	return high < 39 ? [(e.innerText || e.name || e.href) + ': ' + high] : [];
})`

// phone makes the tab a phone: narrow, and touched.
func (b *tab) phone() {
	b.Helper()
	b.looks(390, 844, "light")
	b.run("touch it", command(emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true}))
}

// On a phone, a finger hits what it means.
func TestPhone(t *testing.T) {
	s := small(t)
	b := s.tab(t)
	b.phone()
	for _, path := range pages {
		b.open(path)
		for _, low := range value[[]string](b, lowTargets) {
			t.Errorf("%s: less than 40 high: %s", path, low)
		}
		// The axis above strips of time stands where they do.
		for _, off := range value[[]string](b, `Array.from(document.querySelectorAll('.slots')).flatMap(axis => {
			const strip = axis.closest('table').querySelector('tbody svg.strip').getBoundingClientRect(), r = axis.getBoundingClientRect();
			return Math.abs(r.left - strip.left) > 1 || Math.abs(r.right - strip.right) > 1 ? [r.left + ' to ' + r.right + ', not ' + strip.left + ' to ' + strip.right] : [];
		})`) {
			t.Errorf("%s: an axis is %s", path, off)
		}
	}

	b.open("/tasks")
	shown := func() bool { return value[bool](b, `document.querySelector('.bulk').checkVisibility()`) }
	if shown() {
		t.Error("buttons stand below the tasks before one is selected")
	}
	b.open("/")
	if high := value[int](b, `document.documentElement.scrollHeight`); high > 2200 {
		t.Errorf("the first page is %d high", high)
	}
	b.run("press a tab at the foot", chromedp.Click(control("Runs")))
	b.waits(`document.body?.dataset.page === 'runs'`)
}
