package hostile_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// pages are what a running process shows, with what has to be on them whatever other rows
// hold.
var pages = []struct{ path, want string }{
	{"/", ""}, {"/tasks?q=healthy", "healthy-job"}, {"/tasks", ""}, {"/task?id=healthy-job", "healthy-job"}, {"/runs", ""}, {"/run?job=healthy-row", "healthy-row"},
	{"/system", ""}, {"/system?topic=healthy-row", "healthy-row"}, {"/timeline", ""},
}

// shown is a running dashboard.
type shown struct {
	environment
	pages, metrics, health string
	families               []string // of the metrics
}

// show starts a dashboard, and remembers which metrics it has before there are hostile
// rows.
func (e environment) show() *shown {
	e.Helper()
	s := &shown{environment: e, pages: address(e.T), metrics: address(e.T), health: address(e.T)}
	e.start("shows", "dashboard", "--dashboard", s.pages, "--metrics", s.metrics, "--health", s.health)
	var problem string
	if s.families, problem = s.scrape(); problem != "" {
		e.Fatal(problem)
	}
	if !slices.Contains(s.families, "nextrun_tasks") {
		e.Fatalf("metrics: %v", s.families)
	}
	return s
}

// problems are the checks of all pages and of the metrics.
func (s *shown) checks() (list []check) {
	for _, p := range pages {
		list = append(list, func() string {
			_, problem := s.get("http://"+s.pages+p.path, p.want)
			return problem
		})
	}
	return append(list,
		func() string { _, problem := s.get("http://"+s.health+"/healthz", ""); return problem },
		func() string {
			families, problem := s.scrape()
			for _, family := range s.families {
				if problem == "" && !slices.Contains(families, family) {
					problem = "the metrics lack " + family
				}
			}
			return problem
		})
}

// get gets a page, and says what is wrong with it.
func (s *shown) get(url, want string) (text, problem string) {
	client := http.Client{Timeout: slow}
	answer, err := client.Get(url)
	if err != nil {
		return "", err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if text = string(body); err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(text, want) {
		_, main, _ := strings.Cut(text, "<main") // which says what is wrong
		return text, fmt.Sprintf("%s: %s, %v, without %q:\n%.1500s", url, answer.Status, err, want, main)
	}
	return text, ""
}

// scrape returns the names of the metrics.
func (s *shown) scrape() (families []string, problem string) {
	text, problem := s.get("http://"+s.metrics+"/metrics", "")
	for line := range strings.Lines(text) {
		if rest, is := strings.CutPrefix(line, "# TYPE "); is {
			name, _, _ := strings.Cut(rest, " ")
			families = append(families, name)
		}
	}
	return families, problem
}

// address is one of this host that nobody uses.
func address(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
