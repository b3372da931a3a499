package browser_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/dashboard"
)

// smallPages are all pages, with something on each.
var smallPages = []string{"/", "/tasks", "/tasks?state=problem", "/task?id=task-00001&timer=hourly", "/task?id=task-00017", "/tick?id=task-00001",
	"/timeline", "/jobs", "/job?id=task-00001-1", "/job?id=task-00030-1", "/ticks", "/ticks?decision=submitted", "/events", "/scheduler"}

// small makes a site with something on each page.
func small(t *testing.T, kind string) *site {
	s := newSite(t, kind, dashboard.Options{Authorize: may})
	s.fill(30, 20)
	return s
}

// fault is what axe finds.
type fault struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML, FailureSummary string }
}

// TestAccessibility looks at each page with axe, in both colours, on wide and narrow
// screens.
func TestAccessibility(t *testing.T) {
	if out, err := exec.Command("axe/install").CombinedOutput(); err != nil {
		t.Fatalf("%s(%v)", out, err)
	}
	axe, err := os.ReadFile("axe/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	s := small(t, storetest.SQLite)
	b := s.tab(t)
	for _, look := range []struct {
		width   int64
		colours string
	}{{1280, "light"}, {1280, "dark"}, {360, "light"}, {360, "dark"}} {
		b.looks(look.width, 800, look.colours)
		for _, path := range smallPages {
			b.open(path)
			for _, fault := range b.faultsOf(string(axe)) {
				t.Errorf("%s, %s, %d wide: %s", path, look.colours, look.width, fault)
			}
			if wide := value[int](b, `document.documentElement.scrollWidth`); wide > int(look.width) {
				t.Errorf("%s is %d wide on a screen of %d: %s", path, wide, look.width, value[string](b, `Array.from(document.querySelectorAll("main *")).filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 200)).slice(0, 3).join("; ")`))
			}
			sideways := `Array.from(document.querySelectorAll("div:has(> .cards)")).filter(e => e.scrollWidth > e.clientWidth).length`
			if look.width < 400 && value[int](b, sideways) > 0 {
				t.Errorf("%s: the tasks have to be scrolled sideways on a screen of %d", path, look.width)
			}
		}
	}
}
