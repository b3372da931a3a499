package service_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func TestExecutorNeedsHandlers(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Failed, "executor", "no handlers are configured", "--config FILE")
		b := s.Start(t, "serve")
		b.WaitFor("WARN", "no handlers are configured")
		b.WaitFor("started")
	})
}

func TestServeRunsCommands(t *testing.T) {
	t.Parallel()
	config := clitest.WriteFile(t, "nextrun.yaml", `
handlers:
  greet: {command: [sh, -c, 'echo "hello $NEXTRUN_HANDLER"; echo progress >&2']}
  fail:  {command: [sh, -c, 'echo broken; exit 3']}
executor: {retry_limit: 0}
`)
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		b := s.Start(t, "serve", "--config", config)
		b.WaitFor("started", "name=test")
		s.Must(t, "task", "add", "hi", "--handler", "greet", "--timer", "2099-01-01")
		s.Says(t, ui.Done, "task run hi", "hi: job ")
		s.Must(t, "task", "add", "tell", "--handler", "told", "--timer", "yearly", "--sink", "event")
		s.Says(t, ui.Done, "task run tell", "tell: event ")
		b.WaitFor("INFO", "job ended", "task=hi", "handler=greet", "state=success")
		jid := s.Submit(t, "fail")
		b.WaitFor("WARN", "job ended", "handler=fail", "state=failed")
		clitest.WantLines(t, s.Must(t, "job", "show", jid), "state failed", "result ")
		if log := s.Must(t, "job", "log", jid, "--follow"); !strings.Contains(log, "broken") {
			t.Errorf("the log lacks the output of the command:\n%s", log)
		}
		b.Stop()
		b.WaitFor("stopped")
		if exit := <-b.Exit; exit != ui.Done {
			t.Errorf("exit code %d", exit)
		}
	})
}

// A command does not get the variables in which nextrun has its secrets.
func TestCommandsDoNotGetSecrets(t *testing.T) {
	t.Parallel()
	config := clitest.WriteFile(t, "nextrun.yaml", `
handlers:
  show: {command: [sh, -c, 'echo "token: $SERVICE_TEST_TOKEN."']}
  pass: {command: [sh, -c, 'echo "token: $SERVICE_TEST_TOKEN."'], env: {SERVICE_TEST_TOKEN: }}
  call: {http: {url: 'http://127.0.0.1:1', header_env: {Authorization: SERVICE_TEST_TOKEN}}}
`)
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Env["SERVICE_TEST_TOKEN"] = "s3cret"
		s.Start(t, "executor", "--config", config)
		for task, want := range map[string]string{"show": "token: .", "pass": "token: s3cret."} {
			if log := s.Must(t, "job", "log", s.Submit(t, task), "--follow"); !strings.Contains(log, want) {
				t.Errorf("%s: the log lacks %q:\n%s", task, want, log)
			}
		}
	})
}
