//go:build pictures

package browser_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/ops/dashboard"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/sqlite" // the driver
)

// The time of the pictures is always the same, and so are the pictures.
var pictured = time.Date(2026, 11, 27, 14, 11, 0, 0, time.UTC)

const (
	before     = 11 * time.Minute // from the end of the month of the shop on, scheduler and executor run
	configured = "../../scripts/shop/nextrun.yaml"
)

// pictures are the pages that docs/dashboard.md shows, and how much of each.
var pictures = []struct {
	name, path string
	height     int64
}{
	{"now", "/", 1000},
	{"tasks", "/tasks", 800},
	{"task", "/task?id=backup-files", 900},
	{"runs", "/runs", 700},
	{"run", "/run?id=price-import&at=" + pictured.Add(-before).Truncate(6*time.Hour).Format(time.RFC3339), 700},
	{"timeline", "/timeline?zone=Europe/Berlin", 800},
	{"system", "/system", 800},
}

// sameEverywhere replaces what is of the machine that takes the pictures.
const sameEverywhere = `(() => {
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
	for (let node; (node = walker.nextNode());) {
		node.data = node.data.replace(/^[^ ,]+, process \d+$/, 'shop.example, process 4711').replace(/^(\(devel\)|dev|v0\.0\.0-\S*|unknown)$/, 'v0.1.0')
	}
	return true
})()`

// files are what the dashboard answers, by path and query.
type files map[string]*httptest.ResponseRecorder

func (f files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := f[r.URL.RequestURI()]
	switch {
	case answer == nil:
		http.NotFound(w, r)
	case r.Header.Get("If-None-Match") != "" || r.Header.Get("X-Part") != "":
		w.WriteHeader(http.StatusNotModified) // time stands still
	default:
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		_, _ = w.Write(answer.Body.Bytes())
	}
}

// TestPictures takes the pictures. Scheduler and executor work for some minutes in a moment: in a bubble with
// a clock of its own.
func TestPictures(t *testing.T) {
	shown := files{}
	synctest.Test(t, func(t *testing.T) { shown.work(t) })
	b := newTab(t, serve(t, shown))
	b.run("stop the clock", command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: fmt.Sprintf("Date.now = () => %d", pictured.UnixMilli()),
	}))
	for _, p := range pictures {
		b.looks(1180, p.height, "light")
		b.open(p.path)
		value[bool](b, sameEverywhere)
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		taken, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
			Format: page.CaptureScreenshotFormatWebp, Quality: new(int64(80))})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("..", "..", "docs", "dashboard", p.name+".webp")
		if len(taken.Data) > 150_000 {
			t.Errorf("%s has %d bytes", path, len(taken.Data))
		}
		if err := os.WriteFile(path, taken.Data, 0o644); err != nil { //nolint:gosec // everybody may see it
			t.Fatal(err)
		}
		t.Logf("%s: %d KB", path, len(taken.Data)/1000)
	}
}

// work makes the month of the shop and lets a scheduler and an executor run after it, until the
// time of the pictures. Then it asks for the pages.
func (f files) work(t *testing.T) {
	time.Sleep(time.Until(pictured.Add(-before)))
	url := "sqlite:" + filepath.Join(t.TempDir(), "shop.db")
	db, err := store.Open(t.Context(), url, store.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := migrations.Of(db).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	furnish(t, strings.TrimPrefix(url, "sqlite:"))
	freeze(t, strings.TrimPrefix(url, "sqlite:"))
	quiet := slog.New(slog.DiscardHandler)
	executor, err := executor.New(db.Jobs(), executor.Config{Name: "shop1", Logger: quiet, RetryDelay: time.Minute, RetryLimit: 1, PoolSize: 6})
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := periodic.NewTasks(db.Tasks()).List(t.Context(), periodic.TaskFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		executor.Register(task.Task, shopJob(task.ID))
	}
	file, err := config.Read(configured, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	queues, err := file.BuildQueues(db)
	if err != nil {
		t.Fatal(err)
	}
	scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "shop1", Logger: quiet, Mode: scheduler.ModeLeader, Submitters: queues,
		Observe: func(scheduler.Event) { executor.Wake() }})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(executor.Start(t.Context()), scheduler.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(pictured))
	f.ask(t, db, queues)
	executor.Hurry()
	if err := errors.Join(scheduler.Stop(t.Context()), executor.Stop(t.Context())); err != nil {
		t.Log(err)
	}
}

// freeze gives the views and triggers of a database the time of the pictures: they take that of SQLite, which no bubble changes.
func freeze(t *testing.T, path string) {
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range []string{"PRAGMA writable_schema = ON",
		"UPDATE sqlite_master SET sql = replace(sql, '''now''', '''" + pictured.Format(time.DateTime) + "''') WHERE sql LIKE '%''now''%'", "PRAGMA writable_schema = RESET"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// shopJob is a handler whose jobs end after ten seconds, fail as they have failed before, or, those
// that take long in this shop, run on.
func shopJob(id string) jobqueue.Handler {
	return func(ctx context.Context, job *jobqueue.JobContext) error {
		took := 10 * time.Second
		if id == "stock-count" || id == "stock-sync" {
			took = time.Hour
		}
		job.Logf(jobqueue.Info, "begins")
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(took):
		}
		if id == "payments-check" || id == "price-import" {
			job.Logf(jobqueue.Error, "FATAL: connection to shop-db refused")
			return errors.New("exit status 3: FATAL: connection to shop-db refused")
		}
		return nil
	}
}

// ask keeps what the dashboard answers now.
func (f files) ask(t *testing.T, db *store.DB, queues periodic.Submitters) {
	pages := handler(t, db, dashboard.Options{Authorize: may, Queues: queues})
	paths := []string{"/static/style.css", "/static/script.js", "/static/icon.svg", "/static/fonts/sans-400.woff2", "/static/fonts/sans-600.woff2"}
	for _, p := range pictures {
		paths = append(paths, p.path)
	}
	for _, path := range paths {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+path, nil)
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		f[path] = w
	}
}
