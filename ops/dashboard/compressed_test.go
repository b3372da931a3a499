package dashboard_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/ops/dashboard"
)

// Pages are compressed for those who can read that.
func TestPagesAreCompressed(t *testing.T) {
	one(t, dashboard.Options{}, func(s *site) {
		for _, path := range []string{"/timeline", "/static/script.js", "/?format=json"} {
			r := s.request(http.MethodGet, path, nil)
			r.Header.Set("Accept-Encoding", "gzip")
			_, header, body := s.ask(r)
			unpacked, err := gzip.NewReader(strings.NewReader(body))
			if err != nil || header.Get("Content-Encoding") != "gzip" || !strings.Contains(header.Get("Vary"), "Accept-Encoding") {
				s.Fatalf("%s: %v, %v", path, header, err)
			}
			if text, err := io.ReadAll(unpacked); err != nil || len(text) < len(body) {
				s.Errorf("%s: %d bytes of %d: %v", path, len(body), len(text), err)
			}
		}
	})
}
