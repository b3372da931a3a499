package service_test

import (
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

// A database that takes connections and never answers holds nobody up for long: a probe gets its answer, and names the
// database; commands end when they are told to, and so does a process that has nothing to do.
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
