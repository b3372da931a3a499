package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// All is well while the services are started and no stage has failed.
func TestHealthOverTime(t *testing.T) {
	t.Parallel()
	var trouble error
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(when string, wantStatus int, want StageHealth) {
		t.Helper()
		answer := httptest.NewRecorder()
		s.healthHandler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://localhost"+HealthPath, http.NoBody))
		var report Report
		if err := json.Unmarshal(answer.Body.Bytes(), &report); err != nil {
			t.Fatal(err)
		}
		if answer.Code != wantStatus || report.Healthy != (wantStatus == http.StatusOK) || report.Stages[0] != want {
			t.Errorf("%s: %d %+v", when, answer.Code, report)
		}
	}
	s.Add(Stage{Name: "database", Health: func(context.Context) error { return trouble }})
	ask("before the start", http.StatusServiceUnavailable, StageHealth{"database", Down, ""})
	if err := s.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask("while it starts", http.StatusServiceUnavailable, StageHealth{"database", Up, ""})
	s.started.Store(true)
	ask("when it has started", http.StatusOK, StageHealth{"database", Up, ""})
	trouble = errors.New("cannot be reached")
	ask("in trouble", http.StatusServiceUnavailable, StageHealth{"database", Failed, "cannot be reached"})
	trouble = nil
	ask("after the trouble", http.StatusOK, StageHealth{"database", Up, ""})
	s.started.Store(false)
	ask("while it stops", http.StatusServiceUnavailable, StageHealth{"database", Up, ""})
}

// A web page that has a browser ask here under another name gets nothing.
func TestHealthAnswersToItsOwnNamesOnly(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]int{
		"localhost:8321": http.StatusServiceUnavailable, "127.0.0.1:8321": http.StatusServiceUnavailable,
		"[::1]:8321": http.StatusServiceUnavailable, "LocalHost": http.StatusServiceUnavailable, "127.0.0.2": http.StatusServiceUnavailable,
		"evil.example:8321": http.StatusMisdirectedRequest, "10.0.0.1:8321": http.StatusMisdirectedRequest,
		"localhost.evil.example": http.StatusMisdirectedRequest,
	} {
		answer := httptest.NewRecorder()
		request := httptest.NewRequest(http.MethodGet, HealthPath, http.NoBody)
		request.Host = host
		(&Process{}).healthHandler().ServeHTTP(answer, request)
		if answer.Code != want || want == http.StatusMisdirectedRequest && strings.Contains(answer.Body.String(), "stages") {
			t.Errorf("Host %s: %d %s, want %d", host, answer.Code, answer.Body, want)
		}
	}
}

// A stage that never answers, as a database may that has fallen silent, keeps the others' states from nobody: the report
// comes in time, and one question is left behind, however often somebody asks.
func TestHealthOfASilentStage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		asked, answer := atomic.Int64{}, make(chan struct{})
		p.Add(Stage{Name: "database", Health: func(context.Context) error { asked.Add(1); <-answer; return nil }},
			Stage{Name: "scheduler", Health: func(context.Context) error { return nil }})
		if err := p.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.started.Store(true)
		for range 3 {
			begun := time.Now()
			report := p.Health(t.Context())
			if took := time.Since(begun); took != healthTimeout || report.Healthy {
				t.Errorf("healthy %v after %s", report.Healthy, took)
			}
			if database, scheduler := report.Stages[0], report.Stages[1]; database.State != Failed ||
				!strings.Contains(database.Error, "has not answered for 4s") || scheduler.State != Up {
				t.Errorf("the report is %+v", report)
			}
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("the database was asked %d times", n)
		}
		close(answer)
		synctest.Wait()
		if !p.Health(t.Context()).Healthy {
			t.Error("it is not well again")
		}
	})
}

// The watchdog keeps silent about a loop that is stuck, and only about that: trouble
// with the database goes by without a restart.
func TestWatchdogIsAboutStuckLoops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err   error
		stuck bool
	}{
		{nil, false},
		{errors.New("connection refused"), false},
		{fmt.Errorf("no round has ended for 7m: %w", service.ErrStalled), true},
	} {
		p, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		p.Add(Stage{Name: "executor", Health: func(context.Context) error { return c.err }, service: &hurrying{}})
		p.done = 1
		if got := p.stuck(t.Context()); got != c.stuck {
			t.Errorf("stuck with %v: %v", c.err, got)
		}
	}
}

// hurrying is a service that notes a hurry.
type hurrying struct {
	Service
	hurried bool
}

func (h *hurrying) Hurry()                { h.hurried = true }
func (h *hurrying) Done() <-chan struct{} { done := make(chan struct{}); close(done); return done }

// When a stop is hurried, each stage gets a last moment to release what it holds.
func TestHurryGivesALastMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		executor := &hurrying{}
		slow := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		p.Add(Stage{Name: "lock", Down: func(ctx context.Context) error { return ctx.Err() }},
			Stage{Name: "scheduler", Down: slow}, Stage{Name: "executor", Down: slow, service: executor})
		if err := p.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Hour, p.Hurry)
		began := time.Now()
		err = p.Stop(t.Context())
		if took := time.Since(began); took != time.Hour+2*lastHurried || !executor.hurried {
			t.Errorf("the stop took %s, the executor was hurried: %v; want an hour and a moment for each of two", took, executor.hurried)
		}
		var stage *StageError
		if !errors.As(err, &stage) || stage.Stage != "executor" || strings.Contains(err.Error(), "lock") {
			t.Errorf("stop = %v, want failures of executor and scheduler only", err)
		}
	})
}
