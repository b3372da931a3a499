package consumers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/program"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	_ "github.com/nextrun/nextrun/store/pgxstore" // of the program
)

// The program of the tutorial about pgx runs its schedules, and ends in order.
func TestRiverTutorialWithoutRiver(t *testing.T) {
	t.Parallel()
	d := storetest.New(t, storetest.Postgres)
	p := reporter(t, overlaid(t, tutorialOfPgx(t, "main.go")), d.URL)
	p.WaitFor("report of pulse for ")
	stop(t, p, syscall.SIGTERM)
	d.Want("3", "SELECT count(*) FROM periodic_task WHERE origin = 'reports'")
	d.Want("0", "SELECT count(*) FROM job WHERE state NOT IN ('success', 'waiting')")
	migrated.Open(d).Verify()
}

// tutorialOfPgx is a file of the tutorial.
func tutorialOfPgx(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/tutorials/pgx.md")
	if err != nil {
		t.Fatal(err)
	}
	return blockOf(t, string(page), "(?s)<!-- file: "+name+" -->\n```go\n(.*?)```")
}

// The program of the tutorial about pgx and River: three instances, each of which is started
// again and again, and killed in between. No tick is lost or doubled, and River runs the jobs.
func TestRiverTutorialOfPgx(t *testing.T) {
	t.Parallel()
	path := overlaid(t, tutorialOfPgx(t, "river.go"))
	d := storetest.New(t, storetest.Postgres)
	f := &fixture{Database: d, queue: riverPostgres, processes: map[string]*program.Process{}}
	f.output(f.worker("migrate"))

	instances := make([]*program.Process, 3)
	for i := range instances {
		instances[i] = reporter(t, path, d.URL)
	}
	ticks := func() string { return d.One("SELECT count(*) FROM periodic_tick WHERE task_id = 'report-of-pulse'") }
	reported := false
	for round := range 10 {
		one := instances[round%3]
		for _, i := range instances {
			storetest.Eventually(t, "5 tasks declared", func() bool { return strings.Contains(i.Said(), "5 tasks declared") })
		}
		before := ticks()
		storetest.Eventually(t, "a tick", func() bool { return ticks() != before })
		signal := syscall.SIGTERM
		if round%2 == 1 {
			signal = syscall.SIGKILL
		}
		stop(t, one, signal)
		reported = reported || strings.Contains(one.Said(), "report of pulse for ")
		instances[round%3] = reporter(t, path, d.URL)
	}
	before := ticks()
	storetest.Eventually(t, "a tick after the last start", func() bool { return ticks() != before })
	for _, i := range instances {
		stop(t, i, syscall.SIGTERM)
	}
	if !reported {
		t.Error("nobody reports")
	}
	d.Want("5 5", "SELECT count(*) || ' ' || count(DISTINCT timer) FROM periodic_task WHERE origin = 'reports'")
	// Each second from the first tick to the last has a tick of its own: none is lost, none missed.
	d.Want("0 lost, 0 without a job", `SELECT (extract(epoch FROM max(due) - min(due)) + 1 - count(*))::int || ' lost, ' ||
		count(*) FILTER (WHERE decision <> 'submitted') || ' without a job' FROM periodic_tick WHERE task_id = 'report-of-pulse'`)
	d.Want("0", `SELECT count(*) - count(DISTINCT metadata -> 'nextrun' ->> 'due') FROM river_job WHERE args ->> 'of' = 'pulse'`)
	migrated.Open(d).Verify()
}

// reporter starts a program of the tutorial.
func reporter(t *testing.T, path, url string) *program.Process {
	t.Helper()
	command := exec.Command(path)
	command.Env = append(os.Environ(), "DATABASE_URL="+url)
	return program.Start(t, command)
}

// stop ends a program. It must end in order, unless it is killed.
func stop(t *testing.T, p *program.Process, signal syscall.Signal) {
	t.Helper()
	p.Signal(signal)
	if exit := p.End(); signal != syscall.SIGKILL && exit != 0 {
		t.Errorf("exit code %d\n%s", exit, p.Said())
	}
}

// The worker that docs/queues.md names runs the job that nextrun submits for the page's task, and fails another, which
// nextrun why then tells. What else the page shows, TestQueuesPage of cmd/nextrun does.
func TestRiverTutorial(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/queues.md")
	if err != nil {
		t.Fatal(err)
	}
	insert := blockOf(t, string(page), "(?s)```sql\n(INSERT INTO periodic_task.*?)```")

	f := newFixture(t, riverPostgres)
	f.Exec(insert)
	worker := reporter(t, program.Build(t, ".", "./tutorial"), f.URL)
	f.startScheduler("scheduler")
	f.output(f.nextrun("task", "run", "report"))
	worker.WaitFor("report to Ada for ")
	f.output(f.nextrun("task", "add", "nobody", "--handler", "report", "--timer", "Mon 09:00", "--args", `{"to": ""}`, "--sink", "river", "--retry-limit", "0"))
	f.output(f.nextrun("task", "run", "nobody"))
	storetest.Eventually(t, "the failure", func() bool { return strings.Contains(f.output(f.nextrun("why", "nobody")), ": nobody to report to.") })
	stop(t, worker, syscall.SIGINT)
}

func blockOf(t *testing.T, page, pattern string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("the page has no %s", pattern)
	}
	return found[1]
}

// overlaid builds a program as if it were a package of this module.
func overlaid(t *testing.T, text string) (path string) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return program.Overlaid(t, source)
}
