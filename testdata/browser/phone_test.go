package browser_test

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

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
