package main_test

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/dashboard"
	"github.com/nextrun/nextrun/store"
)

// place is a database, and what looks at it.
type place struct {
	*testing.T
	clitest.Shell
	url string
}

// open is for databases that exist.
func open(t *testing.T, url string) place {
	return place{t, clitest.Shell{Env: map[string]string{"NEXTRUN_DB": url, "NEXTRUN_CONFIG": config, "NO_COLOR": "1"}}, url}
}

func onBoth(t *testing.T, test func(p place)) {
	t.Parallel()
	storetest.Kinds(t, func(t *testing.T, kind string) {
		url := storetest.PostgresURL
		if kind == storetest.SQLite {
			url = storetest.SQLiteURL
		}
		test(open(t, url(t)))
	})
}

// says runs a command, which must not fail, at two widths.
func (p place) says(args ...string) string {
	p.Helper()
	var said string
	for _, columns := range []string{"80", "160"} {
		shell := clitest.Shell{Env: maps.Clone(p.Env)}
		shell.Env["COLUMNS"] = columns
		r := shell.Run(p.Context(), args...)
		said = r.Stdout + r.Stderr
		if r.Exit != ui.Done && r.Exit != ui.Changes {
			p.Errorf("nextrun %s: exit code %d\n%s", strings.Join(args, " "), r.Exit, said)
		}
		for _, bad := range []string{"%!", "<nil>", "0001-01-01", "panic"} {
			if strings.Contains(said, bad) {
				p.Errorf("nextrun %s says %q:\n%s", strings.Join(args, " "), bad, said)
			}
		}
	}
	return said
}

// looks gets the pages, as people and as programs read them.
func (p place) looks(more ...string) {
	p.Helper()
	db, err := store.Open(p.Context(), p.url, store.Options{})
	if err != nil {
		p.Fatal(err)
	}
	defer db.Close()
	handler, err := dashboard.Handler(db, dashboard.Options{})
	if err != nil {
		p.Fatal(err)
	}
	for _, path := range append(slices.Clone(pages), more...) {
		for _, form := range []string{path, path + map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + "format=json"} {
			answer := httptest.NewRecorder()
			request := httptest.NewRequestWithContext(p.Context(), "GET", form, nil)
			request.Host = "localhost"
			handler.ServeHTTP(answer, request)
			body := answer.Body.String()
			if answer.Code != 200 || strings.Contains(body, "%!") || strings.Contains(body, "0001-01-01") {
				at := max(strings.Index(body, "0001-01-01"), strings.Index(body, "%!"), 0)
				p.Errorf("%s: %d\n%.300s", form, answer.Code, body[max(0, at-150):])
			}
			if form != path && !json.Valid(answer.Body.Bytes()) {
				p.Errorf("%s is no JSON", form)
			}
		}
	}
}
