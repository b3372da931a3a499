package service_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// A failure to start names the stage; an exclusive scheduler, who is there already.
func TestStartSaysWhatFailed(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Failed, "scheduler --config none.yaml", "start failed at configuration")
		first := s.Start(t, "scheduler", "--mode", "exclusive", "--name", "first")
		first.WaitFor("started", "name=first")
		s.Says(t, ui.Failed, "serve --mode exclusive", "start failed at scheduler", "another instance", "first@", "--mode leader", "nextrun lock release")
		first.Stop()
		if exit := <-first.Exit; exit != ui.Done {
			t.Errorf("exit code %d after the signal, want %d", exit, ui.Done)
		}
		s.Start(t, "scheduler", "--mode", "exclusive", "--name", "second", "--log-format", "json").WaitFor(`"msg":"started"`, `"name":"second"`, `"level":"info"`)
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
