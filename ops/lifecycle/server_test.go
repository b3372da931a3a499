package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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
