package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard"
)

// All times of a page are in one zone, which visitors choose. What a refresh compares with
// is apart for each zone and for what somebody may do.
func TestPagesAreInTheChosenZone(t *testing.T) {
	one(t, dashboard.Options{Prefix: "/p", Authorize: func(r *http.Request) (string, dashboard.Access) {
		if r.Header.Get("X-Acts") != "" {
			return "ada", dashboard.Act
		}
		return "ada", dashboard.Read
	}}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('report', 'work', '*-*-* 09:00 America/New_York')`)
		s.ran("report", time.Date(2026, 1, 7, 14, 0, 0, 0, time.UTC), time.Second, "success")
		choose := func(zone, back string) (int, http.Header) {
			code, header, _ := s.ask(s.request(http.MethodGet, "/zone?"+url.Values{"zone": {zone}, "back": {back}}.Encode(), nil))
			return code, header
		}
		code, chosen := choose("Asia/Tokyo", "/tasks?q=rep&zone=UTC")
		if to := chosen.Get("Location"); code != 303 || to != "/p/tasks?q=rep" {
			s.Errorf("%d, to %s", code, to)
		}
		for _, bad := range []string{"", "Local", "Asia/Tokio"} {
			if code, header := choose(bad, "/"); code != 400 || header.Get("Set-Cookie") != "" {
				s.Errorf("zone %q: %d %v", bad, code, header)
			}
		}
		if _, header := choose("UTC", "https://evil.example/"); header.Get("Location") != "/p/" {
			s.Errorf("it leads to %s", header.Get("Location"))
		}
		tags := map[string]bool{}
		for _, look := range []struct{ cookie, query, acts, want string }{
			{"", "", "", ">Wed 7 Jan, 14:00:00<"}, {chosen.Get("Set-Cookie"), "", "", ">Wed 7 Jan, 23:00:00<"},
			{chosen.Get("Set-Cookie"), "&zone=Europe/Berlin", "", ">Wed 7 Jan, 15:00:00<"}, {"nextrun_zone=nonsense", "", "1", ">Wed 7 Jan, 14:00:00<"},
		} {
			r := s.request(http.MethodGet, "/task?id=report"+look.query, nil)
			r.Header.Set("Cookie", look.cookie)
			r.Header.Set("X-Acts", look.acts)
			_, header, page := s.ask(r)
			if want := strings.NewReplacer("Wed 7 Jan,", "7 Jan 2026,").Replace(look.want); !strings.Contains(page, look.want) && !strings.Contains(page, want) {
				s.Errorf("%+v: the page lacks it", look)
			}
			tags[header.Get("ETag")] = true
		}
		if len(tags) != 4 {
			s.Errorf("four looks have %d tags", len(tags))
		}
	})
}
