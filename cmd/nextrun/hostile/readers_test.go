package hostile_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// Whatever rows hold, each command that reads goes on to read the other rows: none
// panics, hangs or fails.
func TestReaders(t *testing.T) {
	onEach(t, func(e environment) {
		cells := fewLarge(e.cells(rand.New(rand.NewPCG(*flagSeed, 0))))
		most := 40
		if long() {
			most = 1000 // another seed takes others
		}
		cells = cells[:min(len(cells), most)]
		e.prepare(cells)
		shows := e.show()
		cells = e.harmAll(cells)
		if e.readAll(shows.checks()); e.Failed() {
			e.Log(e.script(cells))
		}
	})
}

// fewLarge leaves out most of the largest values: all of them at once would be lists of
// gigabytes.
func fewLarge(cells []*cell) []*cell {
	large := 0
	return slices.DeleteFunc(cells, func(c *cell) bool {
		if strings.Contains(c.value.name, "10 MB") {
			large++
		}
		return strings.Contains(c.value.name, "10 MB") && large > 5
	})
}

// prepare makes the rows of cells, a healthy one of each kind, and lets nextrun work on
// them until all are there.
func (e environment) prepare(cells []*cell) {
	e.Helper()
	var script, counts strings.Builder
	script.WriteString("BEGIN;\n")
	for _, sink := range []string{"job", "event", "mail", "river"} {
		script.WriteString(e.fill(task("skip", sink), "healthy-"+sink) + ";\n")
	}
	script.WriteString(e.fill(insertJob, "healthy-row") + ";\n" + e.fill(insertEvent, "healthy-row") + ";\n")
	counts.WriteString("SELECT count(*) FROM periodic_task WHERE id = 'healthy-mail' AND due IS NOT NULL;\n")
	for _, c := range cells {
		if c.waits != "" {
			script.WriteString(e.makes(c))
			counts.WriteString(e.fill(c.waits, c.id) + ";\n")
		}
	}
	script.WriteString("COMMIT;\n")
	e.must(script.String())
	service := e.start("prepares", "serve")
	storetest.Eventually(e.T, "all rows are there", func() bool { return !slices.Contains(strings.Split(e.must(counts.String()), "\n"), "0") })
	if !service.stop() {
		e.Errorf("the process did not end well:\n%s", lastLines(service.Said()))
	}
	e.must("UPDATE periodic_task SET timer = 'hourly';")
}

// harmAll makes all rows hostile, and returns those cells that the database has taken.
func (e environment) harmAll(cells []*cell) (taken []*cell) {
	e.Helper()
	refused := map[string]int{}
	for _, c := range cells {
		more := strings.ReplaceAll(e.makes(c), "*:*:*", "hourly") // a preview of each second would take its time
		if c.waits != "" {
			more = ""
		}
		if err := e.apply(c, more); err != nil {
			refused[c.table]++
			continue
		}
		taken = append(taken, c)
	}
	e.Logf("%d of %d values were taken, others refused: %v", len(taken), len(cells), refused)
	return taken
}

// check is a thing that must go well; empty: it did.
type check func() string

// readers are all commands that read, with what they have to print whatever other rows
// hold.
var readers = []struct {
	args string
	want string
}{
	{"task list", "healthy-job"}, {"task list --json", "healthy-job"}, {"task show healthy-job", "healthy-job"}, {"task show healthy-event --json", "healthy-event"},
	{"task export", "healthy-job"}, {"tick list --task healthy-job", "healthy-job"}, {"tick list --json -n 100000", "healthy-job"},
	{"tick list -n 100000", "healthy-job"}, {"job list -n 100000", "healthy-row"}, {"job list --json -n 100000", "healthy-row"}, {"job show healthy-row", "healthy-row"},
	{"job log healthy-row", ""}, {"job limit", ""}, {"event list -n 100000", "healthy-row"}, {"event list --json -n 100000", "healthy-row"},
	{"lock show", ""}, {"lock show --json", ""},
	{"why healthy-job", "healthy-job"}, {"why healthy-mail --json", "healthy-mail"},
	{"check", ""}, {"check --guarantees --timeout 50s", "checks:"}, {"check --guarantees --json", "undone\": []"}, {"migrate status", ""}, {"preview", ""},
}

// views are those of the catalog.
func (d database) views() (names []string) {
	d.Helper()
	query := "SELECT table_name FROM information_schema.views WHERE table_schema = current_schema()"
	if d.isSQLite() {
		query = "SELECT name FROM sqlite_schema WHERE type = 'view'"
	}
	for _, row := range d.rows(query) {
		names = append(names, row[0])
	}
	return names
}

// look reads all of a view.
func (d database) look(view string) string {
	if _, err := d.run("SELECT * FROM " + view + ";\n"); err != nil {
		return fmt.Sprintf("the view %s: %v", view, err)
	}
	return ""
}

// readAll runs all readers, reads all views and does other checks.
func (e environment) readAll(others []check) {
	e.Helper()
	try := func(check check) {
		if problem := check(); problem != "" {
			e.Error(problem)
		}
	}
	for _, r := range readers {
		try(func() string { return e.read(r.args, r.want) })
	}
	for _, view := range e.views() {
		try(func() string { return e.look(view) })
	}
	for _, other := range others {
		try(other)
	}
}

// read runs a command. It may say with its exit code, 3 or 1, that it found something odd, but
// not that it could not read.
func (e environment) read(args, want string) string {
	out, err := e.nextrun(strings.Fields(args)...)
	odd := err != nil && (err.Error() == "exit status 1" || err.Error() == "exit status 3") && (strings.HasPrefix(args, "check") || strings.HasPrefix(args, "why") ||
		args == "task export" && strings.Contains(out, "left out")) && !strings.Contains(out, "cannot be read")
	switch {
	case err != nil && !odd:
		return fmt.Sprintf("nextrun %s: %v\n%.1500s", args, err, lastLines(out))
	case strings.Contains(out, "not checked"):
		_, undone, _ := strings.Cut(out, "not checked")
		return fmt.Sprintf("nextrun %s: not checked%.1500s", args, undone)
	case !strings.Contains(out, want):
		return fmt.Sprintf("nextrun %s does not show %s:\n%.1500s", args, want, out)
	}
	return ""
}

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// script is the SQL that makes these rows.
func (e environment) script(cells []*cell) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString("-- " + c.String() + "\n" + e.makes(c) + e.harm(c))
	}
	return b.String()
}
