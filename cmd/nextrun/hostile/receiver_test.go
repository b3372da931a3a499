package hostile_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// receiver takes the calls of jobs and of the relay, and returns its address.
func receiver(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(server.Close)
	return server.URL
}
