package service_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func TestSchedulerRunsUntilTheSignal(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		b := s.Start(t, "scheduler")
		b.WaitFor("INFO", "started", "name=test")
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('tick', 'echo', '*:*:*')`)
		b.WaitFor("INFO", "job submitted", "task=tick", "handler=echo")
		b.WaitFor("INFO", "tick skipped", "task=tick", "cause=overlap")
		b.Stop()
		b.WaitFor("stopped")
		if exit := <-b.Exit; exit != ui.Done {
			t.Errorf("exit code %d after the signal, want %d", exit, ui.Done)
		}
	})
}

func TestLogFormatJSON(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		b := s.Start(t, "scheduler", "--log-format", "json", "--name", "other")
		b.WaitFor(`"msg":"started"`, `"name":"other"`, `"level":"info"`)
	})
}

func TestModes(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		first := s.Start(t, "scheduler", "--mode", "exclusive", "--name", "first")
		first.WaitFor("started", "name=first")
		s.Says(t, ui.Failed, "scheduler --mode exclusive", "another instance", "first@", "--mode leader")
		first.Stop()
		if exit := <-first.Exit; exit != ui.Done {
			t.Errorf("exit code %d after the signal, want %d", exit, ui.Done)
		}
		second := s.Start(t, "scheduler", "--mode", "exclusive", "--name", "second")
		second.WaitFor("started", "name=second")
	})
}

func TestSchedulerBesideDocspell(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `CREATE TABLE node (id varchar(254), type varchar(254), url varchar(254), not_found integer)`)
		s.Exec(t, `INSERT INTO node VALUES ('joex1', 'joex', 'http://joex1', 0)`)
		for _, command := range []string{"serve", "scheduler", "scheduler --once"} {
			s.Says(t, ui.Failed, command, "joex1", "--beside-docspell")
		}
		s.Must(t, "scheduler", "--once", "--beside-docspell")
		config := clitest.WriteFile(t, "nextrun.yaml", "handlers: {echo: {command: [echo]}}\n")
		s.Start(t, "executor", "--config", config).WaitFor("started", "name=test") // it does not schedule
	})
}
