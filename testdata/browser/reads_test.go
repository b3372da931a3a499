package browser_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/nextrun/nextrun/ops/dashboard"
)

// cut are the cells whose text is wider than they are, so that nobody reads its end.
const cut = `Array.from(document.querySelectorAll('.history tr.fold td, .history td.whole')).filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth).map(e => e.innerText.slice(0, 80))`

// Runs that are unfolded wrap, each whole in its line. On a phone an error does, too, and how long a run took stands at the edge.
func TestRunsOfATaskAreRead(t *testing.T) {
	s := newSite(t, dashboard.Options{Authorize: may})
	s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('one', 'echo', 'hourly', '2099-01-01 00:00:00')`)
	for i := range 30 {
		due := fmt.Sprintf("2026-01-%02d 08:00:00", i+1)
		result := map[bool]string{true: strings.Repeat("no space left on device ", 8), false: "timeout"}[i == 29]
		s.Exec(`INSERT INTO job (jid, task, tracker, state, due, submitted, started, finished, result) VALUES (?, 'echo', 'one', 'failed', ?, ?, ?, ?, ?)`,
			due, due, due, due, strings.Replace(due, ":00:00", ":00:09", 1), result)
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, jid, decided) VALUES ('one', ?, 'submitted', ?, ?)`, due, due, due)
	}
	b := s.tab(t)
	for _, width := range []int64{1280, 390} {
		b.looks(width, 900, "light")
		b.open("/task?id=one")
		value[bool](b, `document.querySelector('.fold summary').click() || true`) // on a phone the tabs lie over what is at the foot
		b.waits(`document.querySelectorAll('.fold .took').length > 20 && document.querySelector('.fold details').open`)
		for _, one := range value[[]string](b, cut) {
			if width == 390 || strings.Contains(one, "Jan") {
				t.Errorf("%d wide, cut off: %s", width, one)
			}
		}
		if n := value[int](b, `Array.from(document.querySelectorAll('.fold .took')).filter(e => e.getClientRects().length > 1).length`); n > 0 {
			t.Errorf("%d wide, %d runs are torn", width, n)
		}
	}
	if off := value[float64](b, `document.querySelector('.history').getBoundingClientRect().right - document.querySelector('.history td.end').getBoundingClientRect().right`); off > 2 {
		t.Errorf("how long a run took ends %v before the edge", off)
	}
	if off := value[float64](b, `(m => m('.jump input') - m('.jump > svg'))(q => (r => r.top + r.height / 2)(document.querySelector(q).getBoundingClientRect()))`); max(off, -off) > 1 {
		t.Errorf("the magnifier is %v off the middle", off)
	}
}

// A menu that opens moves no button, and its fields are wide enough for what stands in them.
func TestMenuStays(t *testing.T) {
	b := small(t).tab(t)
	for _, width := range []int64{1280, 390} {
		b.looks(width, 900, "light")
		b.open("/task?id=task-00001")
		const tops = `Array.from(document.querySelectorAll('.do > a, .do > form > button, .do summary')).map(e => e.getBoundingClientRect().top)`
		before := value[[]float64](b, tops)
		b.run("open the menu", chromedp.Click(control("Pause…")))
		b.waits(`document.querySelector('.do .menu').open`)
		if after := value[[]float64](b, tops); len(before) < 4 || !slices.Equal(before, after) {
			t.Errorf("%d wide, the buttons move from %v to %v", width, before, after)
		}
		if wide := value[float64](b, `(e => { const c = document.createElement('canvas').getContext('2d'), s = getComputedStyle(e); c.font = s.fontSize + " " + s.fontFamily;
			return c.measureText(e.placeholder).width - (e.clientWidth - parseFloat(s.paddingLeft) - parseFloat(s.paddingRight)) })(document.querySelector('input[name=until]'))`); wide > 0 {
			t.Errorf("%d wide, the hint is %v wider than its field", width, wide)
		}
		b.fits("an open menu", width)
	}
}
