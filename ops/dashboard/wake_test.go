package dashboard_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/nextrun/nextrun/ops/dashboard"
	"github.com/nextrun/nextrun/store"
)

// Only who may act wakes the scheduler.
func TestWake(t *testing.T) {
	t.Parallel()
	for access, want := range map[dashboard.Access]int{
		dashboard.TooMany: http.StatusTooManyRequests, dashboard.None: http.StatusUnauthorized,
		dashboard.Read: http.StatusForbidden, dashboard.Act: http.StatusSeeOther,
	} {
		woken := 0
		pages, err := dashboard.Handler(&store.DB{}, dashboard.Options{
			Wake:      func() { woken++ },
			Authorize: func(*http.Request) (string, dashboard.Access) { return "ann", access },
		})
		if err != nil {
			t.Fatal(err)
		}
		answer := httptest.NewRecorder()
		pages.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/wake", http.NoBody))
		if answer.Code != want || (woken == 1) != (access == dashboard.Act) {
			t.Errorf("access %d: status %d, want %d; woken %d times", access, answer.Code, want, woken)
		}
	}
}
