package service

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
	s := &services{}
	ask := func(when string, wantStatus int, want stageHealth) {
		t.Helper()
		answer := httptest.NewRecorder()
		s.healthHandler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://localhost"+healthPath, http.NoBody))
		var report healthReport
		if err := json.Unmarshal(answer.Body.Bytes(), &report); err != nil {
			t.Fatal(err)
		}
		if answer.Code != wantStatus || report.Healthy != (wantStatus == http.StatusOK) || report.Stages[0] != want {
			t.Errorf("%s: %d %+v", when, answer.Code, report)
		}
	}
	err := s.stages.add(stage{name: "database", health: func(context.Context) error { return trouble }})
	if err != nil {
		t.Fatal(err)
	}
	ask("before the start", http.StatusServiceUnavailable, stageHealth{"database", stateDown, ""})
	if err := s.stages.up(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask("while it starts", http.StatusServiceUnavailable, stageHealth{"database", stateUp, ""})
	s.started.Store(true)
	ask("when it has started", http.StatusOK, stageHealth{"database", stateUp, ""})
	trouble = errors.New("cannot be reached")
	ask("in trouble", http.StatusServiceUnavailable, stageHealth{"database", stateFailed, "cannot be reached"})
	trouble = nil
	ask("after the trouble", http.StatusOK, stageHealth{"database", stateUp, ""})
	s.started.Store(false)
	ask("while it stops", http.StatusServiceUnavailable, stageHealth{"database", stateUp, ""})
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
		request := httptest.NewRequest(http.MethodGet, healthPath, http.NoBody)
		request.Host = host
		(&services{}).healthHandler().ServeHTTP(answer, request)
		if answer.Code != want || want == http.StatusMisdirectedRequest && strings.Contains(answer.Body.String(), "stages") {
			t.Errorf("Host %s: %d %s, want %d", host, answer.Code, answer.Body, want)
		}
	}
}
