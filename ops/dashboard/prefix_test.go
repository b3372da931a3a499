package dashboard_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard"
)

var links = regexp.MustCompile(` (?:href|src|action)="([^"#]*)`)

// Behind a proxy, whether it takes the prefix off or not, each link, form, redirect and cookie of each page stays below the prefix.
func TestPrefixBehindProxies(t *testing.T) {
	one(t, dashboard.Options{Prefix: "/apps/schedules", Authorize: may}, func(direct *site) {
		direct.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('report', 'work', 'yearly')`)
		target, err := url.Parse(strings.TrimSuffix(direct.url, "/apps/schedules"))
		if err != nil {
			direct.Fatal(err)
		}
		for name, take := range map[string]string{"a proxy that takes the prefix off": "/apps/schedules", "a proxy that does not": ""} {
			proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(target)
				r.Out.URL.Path, r.Out.Host = strings.TrimPrefix(r.In.URL.Path, take), r.In.Host
			}})
			direct.Cleanup(proxy.Close)
			s := &site{Database: direct.Database, url: proxy.URL}
			seen, way := map[string]bool{}, []string{"/apps/schedules/"}
			for len(way) > 0 {
				page := way[0]
				way = way[1:]
				for _, m := range links.FindAllStringSubmatch(s.get(page), -1) {
					link := strings.ReplaceAll(m[1], "&amp;", "&")
					path, _, _ := strings.Cut(link, "?")
					if strings.HasPrefix(link, "http") || path == "" || seen[path] || path == "/apps/schedules/zone" || path == "/apps/schedules/jump" {
						continue
					}
					if seen[path] = true; !strings.HasPrefix(link, "/apps/schedules/") {
						s.Errorf("%s: %s has a link to %s", name, page, link)
						continue
					}
					way = append(way, link)
				}
			}
			if len(seen) < 8 {
				s.Errorf("%s: only %d links", name, len(seen))
			}
			_, h, _ := s.ask(s.request(http.MethodPost, "/apps/schedules/tasks", url.Values{"action": {"pause"}, "id": {"report"}, "back": {"/tasks"}}))
			if to := s.told(h); !strings.HasPrefix(to, "/apps/schedules/tasks?done=Paused") {
				s.Errorf("%s: a form leads to %q", name, to)
			}
			_, h, _ = s.ask(s.request(http.MethodGet, "/apps/schedules/zone?zone=Europe/Berlin&back=/tasks", nil))
			if to, cookie := h.Get("Location"), h.Get("Set-Cookie"); !strings.HasPrefix(to, "/apps/schedules/tasks") || !strings.Contains(cookie, "Path=/apps/schedules/") ||
				!strings.Contains(cookie, "HttpOnly; SameSite=") {
				s.Errorf("%s: a zone leads to %q with %q", name, to, cookie)
			}
		}
		if _, h, _ := direct.ask(direct.request(http.MethodGet, "", nil)); h.Get("Location") != "/apps/schedules/" {
			direct.Errorf("without its slash the prefix leads to %q", h.Get("Location"))
		}
	})
}

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
