package service_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

func TestServeRunsCommands(t *testing.T) {
	t.Parallel()
	config := clitest.WriteFile(t, "nextrun.yaml", `
handlers:
  greet: {command: [sh, -c, 'echo "hello $NEXTRUN_HANDLER"; echo progress >&2']}
  fail:  {command: [sh, -c, 'echo broken; exit 3']}
executor: {retry_limit: 0}
`)
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Failed, "executor", "no handlers are configured", "--config FILE")
		s.Start(t, "serve").WaitFor("WARN", "no handlers are configured")
		b := s.Start(t, "serve", "--config", config)
		b.WaitFor("started", "name=test")
		s.Must(t, "task", "add", "hi", "--handler", "greet", "--timer", "2099-01-01")
		s.Says(t, ui.Done, "task run hi", "hi: job ")
		s.Must(t, "task", "add", "tell", "--handler", "told", "--timer", "yearly", "--sink", "event")
		s.Says(t, ui.Done, "task run tell", "tell: event ")
		b.WaitFor("INFO", "job ended", "task=hi", "handler=greet", "state=success")
		jid := s.Submit(t, "fail")
		b.WaitFor("WARN", "job ended", "handler=fail", "state=failed")
		s.Says(t, ui.Done, "job show "+jid, "state failed", "result ")
		s.Says(t, ui.Done, "job log --follow "+jid, "broken")
		b.Stop()
		b.WaitFor("stopped")
		if exit := <-b.Exit; exit != ui.Done {
			t.Errorf("exit code %d", exit)
		}
	})
}
