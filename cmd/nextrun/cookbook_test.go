package main_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

const cookbook = "../../docs/timers.md"

var update = flag.Bool("update", false, "write the computed times into docs/timers.md, and the names into testdata/names.txt")

// recipe is one schedule of the cookbook: the rows that it inserts, and the times that
// the page shows for them.
type recipe struct {
	timer            string // of a line of the table; empty: the recipe is a block of SQL
	sql, from, shown string
	tasks            []periodic.Task
}

// place is where the page shows the recipe's times.
func (r recipe) place(times string) string {
	if r.timer != "" {
		return "| `" + r.timer + "` | " + times + " |"
	}
	return r.sql + "```\n\n<!-- elapses: " + r.from + " -->\n```text\n" + times
}

var lineOfTable = regexp.MustCompile("(?m)^\\| .* \\| `([^`]+)` \\| (.*) \\|$")

// recipes reads the cookbook: a line of its table is a task whose id is its timer; a block of SQL is
// followed by one of elapses.
func recipes(t *testing.T) (list []recipe) {
	t.Helper()
	for _, line := range lineOfTable.FindAllStringSubmatch(readFile(t, cookbook), -1) {
		list = append(list, recipe{timer: line[1], from: "2026-12-01", shown: line[2],
			sql: "INSERT INTO periodic_task (id, task, timer) VALUES ('" + line[1] + "', 'report', '" + line[1] + "')"})
	}
	for _, b := range blocksOf(t, cookbook) {
		switch {
		case b.language == "text" && b.do == "": // a notation
		case b.language == "sql" && b.do == "run":
			list = append(list, recipe{sql: b.text})
		case b.do == "elapses" && len(list) > 0 && list[len(list)-1].from == "":
			list[len(list)-1].from, list[len(list)-1].shown = b.about, b.text
		default:
			t.Errorf("%s: block %q is out of place:\n%s", cookbook, b.do, b.text)
		}
	}
	if len(list) != 12 {
		t.Errorf("%s has %d recipes", cookbook, len(list))
	}
	return list
}

// insert runs the recipes' SQL, and reads back which tasks that has made.
func insert(t *testing.T, d *storetest.Database, list []recipe) {
	t.Helper()
	nextrun(t, d.URL, ui.Done, "migrate", "up")
	db, err := store.Open(t.Context(), d.URL, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	known := map[string]bool{}
	for i := range list {
		d.Exec(list[i].sql)
		all, err := periodic.NewTasks(db.Tasks()).List(t.Context(), periodic.TaskFilter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range all {
			if !known[row.ID] {
				known[row.ID] = true
				list[i].tasks = append(list[i].tasks, row)
			}
		}
		if len(list[i].tasks) == 0 {
			t.Errorf("this makes no task:\n%s", list[i].sql)
		}
	}
}

// The times that the cookbook shows are those that nextrun computes for its rows, on
// both databases. `go test ./cmd/nextrun -run Cookbook -update` writes them.
func TestCookbookElapses(t *testing.T) {
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		list := recipes(t)
		insert(t, d, list)
		page := readFile(t, cookbook)
		for _, r := range list {
			if want := r.upcoming(t); r.shown != want {
				page = strings.Replace(page, r.place(r.shown), r.place(want), 1)
				if !*update {
					t.Errorf("the cookbook shows after\n%s\n%s\nbut the times are\n%s", r.sql, r.shown, want)
				}
			}
		}
		if *update {
			if err := os.WriteFile(cookbook, []byte(page), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// upcoming is what the page has to show: the next ticks of a recipe in the zones of
// their timers.
func (r recipe) upcoming(t *testing.T) string {
	t.Helper()
	from, err := time.Parse("2006-01-02 15:04", (r.from + " 00:00")[:16])
	if err != nil {
		t.Fatal(err)
	}
	const layout = "Mon 2006-01-02 15:04 MST"
	var ticks []periodic.Upcoming
	for tick := range periodic.Preview(r.tasks, from, from.AddDate(9, 0, 0)) {
		if ticks = append(ticks, tick); len(ticks) == max(3, 2*len(r.tasks)) {
			break
		}
	}
	if r.timer != "" {
		var times []string
		for _, tick := range ticks[:min(2, len(ticks))] {
			times = append(times, tick.NextRun.In(zone(t, r.timer)).Format(layout))
		}
		return strings.Join(times, ", ")
	}
	var text strings.Builder
	for _, tick := range ticks {
		text.WriteString(tick.NextRun.In(zone(t, tick.Task.Timer)).Format(layout))
		if len(r.tasks) > 1 {
			text.WriteString("  " + tick.Task.ID)
		}
		text.WriteString("\n")
	}
	return text.String()
}

func zone(t *testing.T, timer string) *time.Location {
	t.Helper()
	schedule, err := calendar.Parse(timer)
	if err != nil {
		t.Fatal(err)
	}
	return calendar.Location(schedule)
}
