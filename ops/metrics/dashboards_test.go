package metrics_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// dashboard is what Grafana needs of a dashboard.
type dashboard struct {
	Inputs     []struct{ Name, PluginID string } `json:"__inputs"`
	UID, Title string
	Templating struct{ List []struct{ Name string } }
	Panels     []struct {
		Type, Title string
		Targets     []struct {
			Expr, RawSQL string
			Datasource   struct{ Type, UID string }
		}
	}
}

func dashboards(t testing.TB) map[string]dashboard {
	t.Helper()
	files, err := filepath.Glob("../../dist/grafana/*.json")
	if err != nil || len(files) != 2 {
		t.Fatalf("found %v: %v", files, err)
	}
	list := map[string]dashboard{}
	for _, file := range files {
		var d dashboard
		if err := json.Unmarshal([]byte(read(t, file)), &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		list[filepath.Base(file)] = d
	}
	return list
}

// Grafana fills in the source of data of each panel by a variable, when people import a dashboard and when it reads files.
func TestDashboardsNameTheirSource(t *testing.T) {
	t.Parallel()
	for file, d := range dashboards(t) {
		if d.UID == "" || d.Title == "" || len(d.Inputs) != 1 {
			t.Fatalf("%s: uid %q, title %q, %d inputs", file, d.UID, d.Title, len(d.Inputs))
		}
		known := map[string]bool{}
		for _, v := range d.Templating.List {
			known[v.Name] = true
		}
		if !known[d.Inputs[0].Name] {
			t.Errorf("%s: no variable %s", file, d.Inputs[0].Name)
		}
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				if target.Datasource.UID != "${"+d.Inputs[0].Name+"}" || target.Datasource.Type != d.Inputs[0].PluginID || (target.Expr == "") == (target.RawSQL == "") {
					t.Errorf("%s: %q: %+v", file, p.Title, target)
				}
				for _, name := range regexp.MustCompile(`\$\{?([a-z]\w*)`).FindAllStringSubmatch(target.Expr+target.RawSQL, -1) {
					if !known[name[1]] {
						t.Errorf("%s: %q asks for the variable %s", file, p.Title, name[1])
					}
				}
			}
		}
	}
}

// Each query of the dashboard on PostgreSQL answers, from views alone.
func TestQueriesOfTheDashboard(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	d.Exec(`INSERT INTO periodic_task (id, task, timer, created, since) VALUES ('good', 'x', 'yearly', '2020-01-01', '2020-01-01'), ('stale', 'x', 'yearly', '2020-01-01', '2020-01-01')`)
	d.Exec(`UPDATE periodic_task SET due = now() AT TIME ZONE 'UTC' + interval '30 minutes', nextrun = now() AT TIME ZONE 'UTC' + interval '30 minutes' WHERE id = 'good'`)
	d.Exec(`UPDATE periodic_task SET due = '2026-01-01', nextrun = '2026-01-01', problem = 'warning: x' WHERE id = 'stale'`)
	d.Exec(`INSERT INTO periodic_tick (task_id, due, decision, missed, decided, jid) VALUES ('good', now() AT TIME ZONE 'UTC' - interval '1 hour', 'submitted', 0, now() AT TIME ZONE 'UTC', 'j'),
		('good', now() AT TIME ZONE 'UTC' - interval '2 hours', 'missed', 1, now() AT TIME ZONE 'UTC', NULL)`)
	d.Exec(`INSERT INTO job (jid, task, tracker, state) VALUES ('j', 'x', 'good', 'failed')`)
	d.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('e', 't', 'y', 'a', 1)`)
	d.Exec(`INSERT INTO outbox_message (event_id, topic) VALUES ('e', 't')`)
	known := []string{"periodic_task", "periodic_stale", "periodic_health", "outbox_message"}
	views := regexp.MustCompile(`(?:FROM|JOIN) ([a-z_]+)`) // not those of extract(epoch FROM interval)
	extracts := regexp.MustCompile(`extract\(epoch FROM `)
	n := 0
	for _, p := range dashboards(t)["nextrun-postgres.json"].Panels {
		for _, target := range p.Targets {
			n++
			for _, from := range views.FindAllStringSubmatch(extracts.ReplaceAllString(target.RawSQL, "extract("), -1) {
				if !slices.Contains(known, from[1]) {
					t.Errorf("%q reads %s", p.Title, from[1])
				}
			}
			rows, err := d.SQL.Queryx(strings.ReplaceAll(target.RawSQL, "${search:sqlstring}", "'%'"))
			if err != nil {
				t.Errorf("%q: %v", p.Title, err)
				continue
			}
			if !rows.Next() {
				t.Errorf("%q shows nothing: %v", p.Title, rows.Err())
			} else if values, err := rows.SliceScan(); err != nil || p.Type == "stat" && fmt.Sprint(values[0]) == "0" {
				t.Errorf("%q shows %v (%v)", p.Title, values, err)
			}
			_ = rows.Close()
		}
	}
	if n < 12 {
		t.Errorf("found %d queries only", n)
	}
}
