package service_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// A failure names the stage.
func TestStartSaysWhichStageFailed(t *testing.T) {
	t.Parallel()
	clitest.OnBoth(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Failed, "scheduler --config none.yaml", "start failed at configuration")
		s.Must(t, "migrate", "up")
		first := s.Start(t, "scheduler", "--mode", "exclusive", "--name", "first")
		first.WaitFor("started")
		s.Says(t, ui.Failed, "serve --mode exclusive", "start failed at scheduler", "nextrun lock release")
	})
}
