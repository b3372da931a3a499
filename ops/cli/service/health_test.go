package service_test

import (
	"net"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// A process that is stopped has its connections accepted by the kernel, and answers nothing.
func TestHealthOfWhoDoesNotAnswer(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	clitest.Shell{}.Says(t, ui.Failed, "health --health "+silent.Addr().String(), "the process has not answered for 5s: it is stopped or stuck")
}

func TestHealthIsTold(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		config := clitest.WriteFile(t, "nextrun.yaml", "handlers: {greet: {command: ['true']}}")
		b, address := webOf(t, s, "health endpoint", "serve", "--mode", "leader", "--config", config, "--health", "localhost:0")
		address = strings.Trim(strings.TrimPrefix(address, "http:"), "/")
		s.Says(t, ui.Done, "health --health "+address, "health up", "configuration up", "database up", "schema up", "executor up", "scheduler up")
		var report struct {
			Healthy bool
			Stages  []struct{ Stage, State, Error string }
		}
		s.JSON(t, &report, "health", "--health", address)
		if !report.Healthy || len(report.Stages) < 7 || report.Stages[0].Stage != "health" {
			t.Errorf("the report is %+v", report)
		}
		b.Stop()
		b.WaitFor("stopped")
		if exit := <-b.Exit; exit != ui.Done {
			t.Errorf("exit code %d", exit)
		}
		s.Says(t, ui.Failed, "health --health "+address, "ask "+address)
	})
}

// Whoever reaches the address may read it, so that only this host may.
func TestHealthIsForThisHostOnly(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": "sqlite:" + t.TempDir() + "/none.db"}}
	for _, address := range []string{"0.0.0.0:8321", ":8321", "10.1.2.3:8321", "[::]:8321", "example.org:8321", "127.0.0.1", "8321"} {
		for _, command := range []string{"serve", "executor", "health"} {
			s.Says(t, ui.WrongUsage, command+" --health "+address, "use a loopback address with a port")
		}
	}
	s.Says(t, ui.WrongUsage, "health", "missing --health")
}
