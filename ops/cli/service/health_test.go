package service_test

import (
	"io"
	"net"
	"net/http"
	"regexp"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// started is the line of a service all of whose parts have started.
var started = regexp.MustCompile(`INFO +started `)

// healthOf starts a service that tells its health, and returns it with the
// address at which it does.
func healthOf(t *testing.T, s clitest.Shell, args ...string) (b *clitest.Background, address string) {
	t.Helper()
	b = s.Start(t, append(args, "--health", "localhost:0")...)
	for line := range b.Lines {
		if match := regexp.MustCompile(`health endpoint listening .*address=(127\.0\.0\.1:\d+)`).FindStringSubmatch(line); match != nil {
			address = match[1]
		}
		if started.MatchString(line) && address != "" {
			return b, address
		}
	}
	t.Fatal("the process ended without telling its health")
	return nil, ""
}

// A process that is stopped has its connections accepted by the kernel, and answers nothing.
func TestHealthOfWhoDoesNotAnswer(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	clitest.Shell{}.Fails(t, ui.Failed, []string{"health", "--health", silent.Addr().String()},
		"the process has not answered for 6s: it is stopped or stuck")
}

func TestHealthIsTold(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		config := clitest.WriteFile(t, "nextrun.yaml", "handlers: {greet: {command: ['true']}}")
		b, address := healthOf(t, s, "serve", "--mode", "leader", "--config", config)
		clitest.WantLines(t, s.Must(t, "health", "--health", address),
			"health up", "configuration up", "database up", "schema up", "executor up", "scheduler up")
		var report struct {
			Healthy bool
			Stages  []struct{ Stage, State, Error string }
		}
		s.JSON(t, &report, "health", "--health", address)
		if !report.Healthy || len(report.Stages) < 7 || report.Stages[0].Stage != "health" {
			t.Errorf("the report is %+v", report)
		}
		for path, want := range map[string]int{"/healthz": http.StatusOK, "/": http.StatusNotFound} {
			answer, err := http.Get("http://" + address + path)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("GET %s: %s, want %d: %s", path, answer.Status, want, body)
			}
		}
		http.DefaultClient.CloseIdleConnections()
		b.Stop()
		b.WaitFor("stopped")
		if exit := <-b.Exit; exit != ui.Done {
			t.Errorf("exit code %d", exit)
		}
		s.Fails(t, ui.Failed, []string{"health", "--health", address}, "ask "+address)
	})
}

// Whoever reaches the address may read it, so that only this host may.
func TestHealthIsForThisHostOnly(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": "sqlite:" + t.TempDir() + "/none.db"}}
	for _, address := range []string{"0.0.0.0:8321", ":8321", "10.1.2.3:8321", "[::]:8321", "example.org:8321", "127.0.0.1", "8321"} {
		for _, command := range []string{"serve", "executor", "health"} {
			s.Fails(t, ui.WrongUsage, []string{command, "--health", address}, "use a loopback address with a port")
		}
	}
	s.Says(t, ui.WrongUsage, "health", "missing --health")
}
