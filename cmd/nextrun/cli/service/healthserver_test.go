package service

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
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
		s.healthHandler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, healthPath, http.NoBody))
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
