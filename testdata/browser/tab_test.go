package browser_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tab is a tab of the browser that shows pages of a site, with cookies and a cache of its
// own. Its methods wait for what they are about, and end the test if it does not happen.
type tab struct {
	testing.TB
	site string
	ctx  context.Context

	mutex  sync.Mutex
	faults []string // what the console says
}

// newTab opens a tab, which is closed with the test. Errors and warnings on its console
// that nobody has asked for by then fail the test.
func newTab(t testing.TB, site string) *tab {
	t.Helper()
	b := &tab{TB: t, site: site}
	var closing context.CancelFunc
	b.ctx, closing = chromedp.NewContext(chromium, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.hear))
	t.Cleanup(func() {
		closing()
		for _, fault := range b.heard() {
			t.Errorf("on the console: %s", fault)
		}
	})
	if err := chromedp.Do(b.ctx); err != nil { // its context is that of the tab, so it has no deadline
		t.Fatalf("open a tab: %v", err)
	}
	b.run("have the focus", command(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))
	b.looks(1280, 900, "light")
	return b
}

// command is an action that sends a command of the protocol to the browser.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// hear notes what goes wrong in the page.
func (b *tab) hear(event any) {
	var fault string
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		fault = e.ExceptionDetails.Text
		if o := e.ExceptionDetails.Exception; o != nil {
			fault += " " + o.Description
		}
	case *runtime.EventConsoleAPICalled:
		switch e.Type {
		case runtime.ConsoleAPICalledTypeError, runtime.ConsoleAPICalledTypeWarning, runtime.ConsoleAPICalledTypeAssert:
		default:
			return
		}
		fault = string(e.Type)
		for _, arg := range e.Args {
			fault += " " + string(arg.Value) + arg.Description
		}
	case *log.EventEntryAdded:
		if e.Entry.Level != log.EntryLevelError && e.Entry.Level != log.EntryLevelWarning {
			return
		}
		if e.Entry.Source == log.EntrySourceNetwork {
			return // answers looks at the status, and site at those of all requests
		}
		fault = fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
	case *page.EventJavascriptDialogOpening:
		fault = "a dialog opens: " + e.Message
		go func() { // the page waits, and this goroutine must not
			_ = chromedp.Do(b.ctx, command(page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{}))
		}()
	default:
		return
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.faults = append(b.faults, fault)
}

// heard returns what the console has said, and forgets it.
func (b *tab) heard() []string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	list := b.faults
	b.faults = nil
	return list
}

// run does something in the tab.
func (b *tab) run(what string, actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.Fatalf("%s: %v\nthe page has: %s", what, err, b.shown())
	}
}

// value is what an expression in the page yields.
func value[T any](b *tab, expression string) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v\nthe page has: %s", expression, err, b.shown())
	}
	return v
}

// shown is the address and the text of the page, for messages.
func (b *tab) shown() string {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + '\n' + document.body.innerText.slice(0, 3000)`))
	if err != nil {
		return err.Error()
	}
	return text
}

// open shows a page of the site, and returns when it has been loaded.
func (b *tab) open(path string) { b.Helper(); b.answers(200, path, chromedp.Navigate(b.site+path)) }

// answers does something that leads to another page. It returns when that has been
// loaded, and fails the test if its status is another one. On a busy machine a page may
// hit its limit of two seconds; then it is loaded again, as people do.
func (b *tab) answers(status int64, what string, actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	answer, err := chromedp.RunResponse(ctx, actions...)
	for err == nil && answer.Status == http.StatusGatewayTimeout && status != http.StatusGatewayTimeout {
		b.Logf("%s: too slow, once more", what)
		answer, err = chromedp.RunResponse(ctx, chromedp.Reload())
	}
	if err != nil {
		b.Fatalf("%s: %v\nthe page has: %s", what, err, b.shown())
	}
	if answer.Status != status {
		b.Errorf("%s: the status is %d, want %d\nthe page has: %s", what, answer.Status, status, b.shown())
	}
}

// press clicks a button or a link with this text, which leads to another page.
func (b *tab) press(text string) {
	b.Helper()
	b.answers(200, "press "+text, chromedp.Click(control(text)))
}

// control finds a button or a link by its text.
func control(text string) string {
	return fmt.Sprintf(`//*[self::button or self::a or self::summary][normalize-space()=%q]`, text)
}

// field finds an input by its label.
func field(label string) string {
	return fmt.Sprintf(`//label[starts-with(normalize-space(), %q)]//*[self::input or self::select or self::textarea]`, label)
}

// fill types into the field with a label, in place of what is there.
func (b *tab) fill(label, text string) {
	b.Helper()
	b.run("fill "+label, chromedp.Clear(field(label)), chromedp.SendKeys(field(label), text))
}

// count is how many elements a CSS selector finds.
func (b *tab) count(selector string) int {
	b.Helper()
	return value[int](b, fmt.Sprintf(`document.querySelectorAll(%q).length`, selector))
}

// text is that of the main part of the page.
func (b *tab) text() string {
	b.Helper()
	return value[string](b, `document.querySelector('main').innerText`)
}

// shows fails the test if the main part lacks a text.
func (b *tab) shows(texts ...string) {
	b.Helper()
	all := b.text()
	for _, text := range texts {
		if !strings.Contains(all, text) {
			b.Errorf("the page lacks %q: %s", text, b.shown())
		}
	}
}

// waits waits until an expression in the page holds.
func (b *tab) waits(expression string) {
	b.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for late := time.Now().Add(patience); !value[bool](b, expression); <-again.C {
		if time.Now().After(late) {
			b.Fatalf("waited %s, but not: %s\nthe page has: %s", patience, expression, b.shown())
		}
	}
}

// looks sets the size of the window, and the colours of the system: light or dark.
func (b *tab) looks(width, height int64, colours string) {
	b.Helper()
	b.run("set the window",
		command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1}),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: colours}, {Name: "prefers-reduced-motion", Value: "reduce"}}}))
}
