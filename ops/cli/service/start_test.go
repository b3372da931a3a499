package service_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// Several instances cannot be exclusive: that is said before the database is
// touched, which here does not exist.
func TestWorkersAreRefusedInModeExclusive(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": "postgres://nobody@127.0.0.1:1/none", "NEXTRUN_WORKERS": "4"}}
	for _, command := range []string{"scheduler", "serve"} {
		r := s.Fails(t, ui.WrongUsage, []string{command, "--mode", "exclusive"}, "NEXTRUN_WORKERS is 4", "--mode leader")
		if strings.Contains(r.Stderr, "127.0.0.1") {
			t.Errorf("%s touched the database:\n%s", command, r.Stderr)
		}
	}
	s.Fails(t, ui.WrongUsage, []string{"scheduler", "--workers", "some"}, `"some"`)
	s.Fails(t, ui.Failed, []string{"scheduler", "--mode", "leader", "--workers", "4"}, "start failed at database")
	s.Fails(t, ui.Failed, []string{"scheduler", "--mode", "exclusive", "--workers", "1"}, "start failed at database")
}

// A failure names the stage.
func TestStartSaysWhichStageFailed(t *testing.T) {
	t.Parallel()
	clitest.OnBoth(t, func(t *testing.T, s clitest.Shell) {
		s.Fails(t, ui.Failed, []string{"scheduler", "--config", "none.yaml"}, "start failed at configuration")
		s.Must(t, "migrate", "up")
		first := s.Start(t, "scheduler", "--mode", "exclusive", "--name", "first")
		first.WaitFor("started")
		s.Fails(t, ui.Failed, []string{"serve", "--mode", "exclusive"}, "start failed at lock", "nextrun lock release")
	})
}
