//go:build pictures

package browser_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/ops/dashboard"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// The time of the pictures, a Friday before the clocks change, and how long the services
// have run by then.
var pictured = time.Date(2026, 3, 27, 13, 20, 25, 0, time.UTC)

const before = 30 * time.Hour

// pictures are the pages that docs/dashboard.md shows, and how much of each.
var pictures = []struct {
	name, path string
	height     int64
}{
	{"now", "/", 800},
	{"tasks", "/tasks", 860},
	{"task", "/task?id=stock-sync", 1500},
	{"edit", "/task?id=newsletter&timer=Fri+16:00+Europe/Berlin", 800},
	{"timeline", "/timeline?zone=Europe/Berlin", 560},
	{"heatmap", "/heatmap?zone=Europe/Berlin&day=0&hour=9", 640},
	{"jobs", "/jobs", 640},
	{"events", "/events", 560},
	{"scheduler", "/scheduler", 620},
}

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

// TestPictures takes the pictures. Scheduler, executor and relay do some days of work in
// a moment: in a bubble with a clock of its own, which makes the pictures the same each
// time.
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
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		taken, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
			Format: page.CaptureScreenshotFormatWebp, Quality: new(int64(80))})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("..", "..", "docs", "dashboard", p.name+".webp")
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, taken.Data) {
			continue
		}
		if len(taken.Data) > 150_000 {
			t.Errorf("%s has %d bytes", path, len(taken.Data))
		}
		if err := os.WriteFile(path, taken.Data, 0o644); err != nil { //nolint:gosec // everybody may see it
			t.Fatal(err)
		}
		t.Logf("%s: %d KB", path, len(taken.Data)/1000)
	}
}

// sameBytes is a source of chance that is none.
type sameBytes struct{}

func (sameBytes) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 0x5a
	}
	return len(b), nil
}

// work runs the services until the time of the pictures, and asks for the pages.
func (f files) work(t *testing.T) {
	uuid.SetRand(sameBytes{}) // ids still differ: they hold the time, and count within a moment
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
	statements, err := os.ReadFile("pictures.sql")
	if err != nil {
		t.Fatal(err)
	}
	storetest.At(t, url).Exec(string(statements))
	quiet := logrus.New()
	quiet.SetLevel(logrus.PanicLevel)
	executor, err := executor.New(db.Jobs(), executor.Config{Name: "shop1", Logger: quiet, RetryDelay: time.Minute, RetryLimit: 1})
	if err != nil {
		t.Fatal(err)
	}
	for handler, takes := range handlers {
		executor.Register(handler, shopJob(takes))
	}
	scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "shop1", Logger: quiet, Mode: scheduler.ModeLeader,
		Observe: func(scheduler.Event) { executor.Wake() }})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(executor.Start(t.Context()), scheduler.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	time.Sleep(before - 5*time.Hour)
	if err := periodic.NewTasks(db.Tasks()).Pause(t.Context(), "us-orders", periodic.Pause{By: "grace", Reason: "the warehouse moves",
		Until: pictured.AddDate(0, 0, 4).Truncate(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Hour)
	f.ask(t, db)
	executor.Hurry()
	if err := errors.Join(scheduler.Stop(t.Context()), executor.Stop(t.Context())); err != nil {
		t.Log(err)
	}
}

// handlers are how long the jobs of the shop take.
var handlers = map[string]time.Duration{
	"backup": 47 * time.Minute, "index": 9 * time.Minute, "fetch": 25 * time.Second, "sync": 7 * time.Minute, "mail": 4 * time.Minute,
	"report": 12 * time.Minute, "renew": time.Minute, "close": time.Hour, "df": 2 * time.Second, "nextrun.housekeeping": 3 * time.Second,
}

// shopJob is a handler whose jobs take about as long, now and then much longer, and fail
// at times, always the same ones.
func shopJob(takes time.Duration) jobqueue.Handler {
	return func(ctx context.Context, job *jobqueue.JobContext) error {
		chance := rand.New(rand.NewSource(job.Job.Due.Unix() + int64(takes))) //nolint:gosec // see above
		took := takes + time.Duration(chance.Float64()*float64(takes)/2)
		if chance.Intn(12) == 0 {
			took *= 2
		}
		job.Logf(jobqueue.Info, "begins")
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(took):
		}
		if chance.Intn(25) == 0 {
			return errors.New("the warehouse does not answer: 503 Service Unavailable")
		}
		job.Logf(jobqueue.Info, "done: %d rows", 200+chance.Intn(900))
		return nil
	}
}

// ask keeps what the dashboard answers now.
func (f files) ask(t *testing.T, db *store.DB) {
	pages := handler(t, db, dashboard.Options{Authorize: may})
	paths := []string{"/static/style.css", "/static/script.js", "/static/icon.svg"}
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
