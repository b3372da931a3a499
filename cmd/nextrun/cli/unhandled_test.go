package cli_test

import (
	"strings"
	"testing"
)

// A job whose task has no handler is named when the program starts, and each
// task once.
func TestJobsWithoutAHandlerAreNamed(t *testing.T) {
	t.Parallel()
	config := writeFile(t, "nextrun.yaml", "handlers: {good: {command: [echo]}}\nexecutor: {poll_interval: 1s}\n")
	onBothMigrated(t, func(t *testing.T, s shell) {
		s.submit(t, "gone")
		s.submit(t, "gone")
		for _, command := range []string{"executor", "serve"} {
			b := s.start(t, command, "--config", config)
			b.waitFor("WARN", "a job waits for a handler", "task=gone")
			s.submit(t, command+"-later")
			for line := range b.lines {
				if strings.Contains(line, "task=gone") {
					t.Errorf("named again: %s", line)
				}
				if strings.Contains(line, "task="+command+"-later") {
					break
				}
			}
			s.submit(t, "good")
			b.waitFor("job ended", "task=good", "state=success")
			b.stop()
			b.waitFor("stopped")
		}
	})
}
