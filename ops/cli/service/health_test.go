package service_test

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/network"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
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

// A database that takes connections and never answers holds nobody up for long: a probe gets an answer, which names the
// database, and a command and an idle process end when somebody stops them.
func TestDatabaseThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	n := network.New(t, d.URL)
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": n.URL}}
	config := clitest.WriteFile(t, "nextrun.yaml", "handlers: {greet: {command: ['true']}}")
	serve, address := webOf(t, s, "health endpoint", "serve", "--mode", "leader", "--config", config, "--health", "localhost:0")
	address = strings.Trim(strings.TrimPrefix(address, "http:"), "/")
	n.FallSilent()

	within(t, 8*time.Second, "an answer of /healthz", func() {
		answer, err := http.Get("http://" + address + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("/healthz: %s", answer.Status)
		}
	})
	s.Says(t, ui.Failed, "health --health "+address, "database failed")
	command := s.Start(t, "task", "list")
	within(t, 4*time.Second, "the end of a command", func() { command.Stop(); <-command.Exit })
	within(t, 4*time.Second, "the end of an idle process", func() { serve.Stop(); <-serve.Exit })
}

// within fails the test if something takes too long. Slow machines need some time.
func within(t *testing.T, most time.Duration, what string, do func()) {
	t.Helper()
	began := time.Now()
	do()
	if took := time.Since(began); took > most {
		t.Errorf("%s took %s, want %s at most", what, took, most)
	} else {
		t.Logf("%s took %s", what, took)
	}
}
