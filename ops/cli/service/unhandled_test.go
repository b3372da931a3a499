package service_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

// A job whose task has no handler is named when the program starts, and each
// task once.
func TestJobsWithoutAHandlerAreNamed(t *testing.T) {
	t.Parallel()
	config := clitest.WriteFile(t, "nextrun.yaml", "handlers: {good: {command: [echo]}}\nexecutor: {poll_interval: 1s}\n")
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Submit(t, "gone")
		s.Submit(t, "gone")
		for _, command := range []string{"executor", "serve"} {
			b := s.Start(t, command, "--config", config)
			b.WaitFor("WARN", "a job waits for a handler", "task=gone")
			s.Submit(t, command+"-later")
			for line := range b.Lines {
				if strings.Contains(line, "task=gone") {
					t.Errorf("named again: %s", line)
				}
				if strings.Contains(line, "task="+command+"-later") {
					break
				}
			}
			s.Submit(t, "good")
			b.WaitFor("job ended", "task=good", "state=success")
			b.Stop()
			b.WaitFor("stopped")
		}
	})
}
