package dashboard_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"

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
			if to, cookie := h.Get("Location"), h.Get("Set-Cookie"); !strings.HasPrefix(to, "/apps/schedules/tasks") || !strings.Contains(cookie, "Path=/apps/schedules/") {
				s.Errorf("%s: a zone leads to %q with %q", name, to, cookie)
			}
		}
		if _, h, _ := direct.ask(direct.request(http.MethodGet, "", nil)); h.Get("Location") != "/apps/schedules/" {
			direct.Errorf("without its slash the prefix leads to %q", h.Get("Location"))
		}
	})
}
