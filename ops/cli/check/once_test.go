package check_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

// What several parts of a process would refuse is said once.
func TestCheckSaysEachThingOnce(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		path := clitest.WriteFile(t, "nextrun.yaml", "handlers:\n  a: {command: ['true']}\non_failure: {url_env: OPS_HOOK}\n")
		out := s.Run(t.Context(), "check", "--config", path).Stdout
		if n := strings.Count(out, "OPS_HOOK"); n != 1 {
			t.Errorf("it is said %d times:\n%s", n, out)
		}
	})
}
