package browser_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/ops/dashboard"
	"github.com/nextrun/nextrun/store"
)

// site is a dashboard on a database, served as the program serves it.
type site struct {
	*migrated.Database
	url string
}

// person is who uses the dashboard.
const person = "ada"

func may(*http.Request) (string, dashboard.Access) { return person, dashboard.Act }

// newSite serves a dashboard on an empty database that has the tables.
func newSite(t testing.TB, o dashboard.Options) *site {
	t.Helper()
	s := &site{Database: migrated.New(t, storetest.SQLite)}
	// The program gives the pages two connections, too.
	small, err := store.Open(t.Context(), s.URL, store.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = small.Close() })
	o.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	s.url = serve(t, handler(t, small, o)) + o.Prefix
	return s
}

func handler(t testing.TB, db *store.DB, o dashboard.Options) http.Handler {
	t.Helper()
	if len(o.Hosts) == 0 {
		o.Hosts = []string{"127.0.0.1"}
	}
	pages, err := dashboard.Handler(db, o)
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// serve serves pages on this host until the test ends, and returns where.
func serve(t testing.TB, pages http.Handler) (url string) {
	t.Helper()
	server := httptest.NewServer(pages)
	t.Cleanup(func() {
		server.CloseClientConnections() // chromium keeps some open
		server.Close()
	})
	return server.URL
}

// tab opens a tab that shows this site.
func (s *site) tab(t testing.TB) *tab { return newTab(t, s.url) }

// execute starts an executor that runs jobs of a handler until the test ends.
func (s *site) execute(t testing.TB, name string, run func(context.Context, *jobqueue.JobContext) error) {
	t.Helper()
	logger := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	executor, err := executor.New(s.Store.Jobs(), executor.Config{Name: "browser", Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	executor.Register(name, run)
	if err := executor.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		executor.Hurry()
		if err := executor.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

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
