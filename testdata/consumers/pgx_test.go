package consumers_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	_ "github.com/nextrun/nextrun/store/pgxstore" // of the program
)

// The program of the tutorial about pgx runs its schedules, and ends in order.
func TestRiverTutorialWithoutRiver(t *testing.T) {
	t.Parallel()
	d := storetest.New(t, storetest.Postgres)
	i := startInstance(t, overlaid(t, tutorialOfPgx(t, "main.go")), d.URL)
	storetest.Eventually(t, "a report", func() bool { return strings.Contains(i.out.String(), "report of pulse for ") })
	i.stop(syscall.SIGTERM)
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
	program := overlaid(t, tutorialOfPgx(t, "river.go"))
	d := storetest.New(t, storetest.Postgres)
	f := &fixture{Database: d, queue: riverPostgres, processes: map[string]*process{}}
	f.output(f.worker("migrate"))

	instances := make([]*instance, 3)
	for i := range instances {
		instances[i] = startInstance(t, program, d.URL)
	}
	ticks := func() string { return d.One("SELECT count(*) FROM periodic_tick WHERE task_id = 'report-of-pulse'") }
	reported := false
	for round := range 10 {
		one := instances[round%3]
		for _, i := range instances {
			storetest.Eventually(t, "5 tasks declared", func() bool { return strings.Contains(i.out.String(), "5 tasks declared") })
		}
		before := ticks()
		storetest.Eventually(t, "a tick", func() bool { return ticks() != before })
		signal := syscall.SIGTERM
		if round%2 == 1 {
			signal = syscall.SIGKILL
		}
		one.stop(signal)
		reported = reported || strings.Contains(one.out.String(), "report of pulse for ")
		instances[round%3] = startInstance(t, program, d.URL)
	}
	before := ticks()
	storetest.Eventually(t, "a tick after the last start", func() bool { return ticks() != before })
	for _, i := range instances {
		i.stop(syscall.SIGTERM)
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

// instance is a process of the program.
type instance struct {
	t       *testing.T
	command *exec.Cmd
	out     *lines
	stopped bool
}

func startInstance(t *testing.T, program, url string) *instance {
	t.Helper()
	i := &instance{t: t, command: exec.Command(program), out: &lines{}}
	i.command.Env = append(os.Environ(), "DATABASE_URL="+url)
	i.command.Stdout, i.command.Stderr = i.out, i.out
	if err := i.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.stop(syscall.SIGKILL) })
	return i
}

// stop ends the process. It must end in order, unless it is killed.
func (i *instance) stop(signal syscall.Signal) {
	i.t.Helper()
	if i.stopped {
		return
	}
	i.stopped = true
	err := i.command.Process.Signal(signal)
	if err == nil {
		err = i.command.Wait()
	}
	if signal != syscall.SIGKILL && err != nil {
		i.t.Error(fmt.Errorf("an instance: %w\n%s", err, i.out.String()))
	}
}
