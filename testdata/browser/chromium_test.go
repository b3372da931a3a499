package browser_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// patience is how long tests wait for something that has to happen. Only a failing test
// waits that long.
const patience = 3 * time.Minute

// foreign is the name of another site. The browser finds it on this host.
const foreign = "evil.example"

// chromium is the browser of all tests. Each test has tabs of its own.
var chromium context.Context

func TestMain(m *testing.M) {
	code, err := withChromium(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// withChromium opens the browser, runs the tests and closes it.
func withChromium(run func() int) (code int, err error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("host-resolver-rules", "MAP "+foreign+" 127.0.0.1"),
		chromedp.Flag("no-proxy-server", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("lang", "en"),
		chromedp.Flag("font-render-hinting", "none"),
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // root cannot have one
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	browser, cancel := chromedp.NewContext(allocator)
	defer cancel()
	if err := chromedp.Do(browser); err != nil {
		return 0, fmt.Errorf("chromium does not start: %w; make doctor says how to install it", err)
	}
	chromium = browser
	code = run()
	if err := chromedp.Cancel(browser); err != nil && code == 0 {
		return code, fmt.Errorf("chromium does not end: %w", err)
	}
	return code, nil
}
