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
	Inputs        []struct{ Name, PluginID string } `json:"__inputs"`
	UID, Title    string
	SchemaVersion int
	Templating    struct {
		List []struct{ Name, Type, Definition string }
	}
	Panels []panel
}

type panel struct {
	ID          int
	Type, Title string
	Datasource  struct{ Type, UID string }
	GridPos     struct{ H, W, X, Y int }
	FieldConfig struct{ Defaults struct{ Unit string } }
	Targets     []struct {
		RefID, Expr, RawSQL string
		Datasource          struct{ Type, UID string }
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

// Grafana loads the dashboards: by its import, which fills in __inputs, and from files,
// where a variable of the same name says which source of data to ask.
func TestDashboardsAreComplete(t *testing.T) {
	t.Parallel()
	uids := map[string]bool{}
	for file, d := range dashboards(t) {
		if d.UID == "" || uids[d.UID] || d.Title == "" || d.SchemaVersion == 0 || len(d.Inputs) != 1 {
			t.Fatalf("%s: uid %q, title %q, schemaVersion %d, %d inputs", file, d.UID, d.Title, d.SchemaVersion, len(d.Inputs))
		}
		uids[d.UID] = true
		source := "${" + d.Inputs[0].Name + "}"
		known := map[string]bool{}
		for _, v := range d.Templating.List {
			known[v.Name] = true
		}
		if !known[d.Inputs[0].Name] {
			t.Errorf("%s: no variable %s", file, d.Inputs[0].Name)
		}
		ids, taken := map[int]bool{}, map[[2]int]string{}
		for _, p := range d.Panels {
			if p.ID == 0 || ids[p.ID] || p.Title == "" || p.Type == "" {
				t.Errorf("%s: id %d, type %q, title %q", file, p.ID, p.Type, p.Title)
			}
			ids[p.ID] = true
			for x := range p.GridPos.W {
				for y := range p.GridPos.H {
					at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
					if taken[at] != "" || at[0] >= 24 {
						t.Fatalf("%s: %q is beyond the edge, or on top of %q", file, p.Title, taken[at])
					}
					taken[at] = p.Title
				}
			}
			if p.Type == "row" {
				continue
			}
			if p.GridPos.W == 0 || p.Datasource.UID != source || p.Datasource.Type != d.Inputs[0].PluginID || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
				t.Errorf("%s: %q lacks a place, the data source %s, a unit or a query: %+v", file, p.Title, source, p)
			}
			for _, target := range p.Targets {
				if target.RefID == "" || target.Datasource != p.Datasource || (target.Expr == "") == (target.RawSQL == "") {
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

// scripts/dashboard-rules, by which promtool checks the expressions, finds all of them.
func TestExpressionsHaveLinesOfTheirOwn(t *testing.T) {
	t.Parallel()
	n := 0
	for file, d := range dashboards(t) {
		lines := strings.Count(read(t, "../../dist/grafana/"+file), "\n          \"expr\": \"")
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				if target.Expr != "" {
					n++
					lines--
				}
			}
		}
		if lines != 0 {
			t.Errorf("%s: %d expressions are elsewhere, or on lines with others", file, -lines)
		}
	}
	if n < 40 {
		t.Errorf("found %d expressions only", n)
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
