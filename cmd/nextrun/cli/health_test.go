package cli_test

import (
	"io"
	"net/http"
	"regexp"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli"
)

// started is the line of a service all of whose parts have started.
var started = regexp.MustCompile(`INFO +started `)

// healthOf starts a service that tells its health, and returns it with the
// address at which it does.
func (s shell) healthOf(t *testing.T, args ...string) (b *background, address string) {
	t.Helper()
	b = s.start(t, append(args, "--health", "localhost:0")...)
	for line := range b.lines {
		if match := regexp.MustCompile(`health is told .*address=(127\.0\.0\.1:\d+)`).FindStringSubmatch(line); match != nil {
			address = match[1]
		}
		if started.MatchString(line) && address != "" {
			return b, address
		}
	}
	t.Fatal("the process ended without telling its health")
	return nil, ""
}

func TestHealthIsTold(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		b, address := s.healthOf(t, "serve", "--mode", "leader")
		wantLines(t, s.must(t, "health", "--health", address),
			"configuration up", "health up", "database up", "schema version up", "lock up", "scheduler up", "executor up")
		var report struct {
			Healthy bool
			Stages  []struct{ Stage, State, Error string }
		}
		s.json(t, &report, "health", "--health", address)
		if !report.Healthy || len(report.Stages) < 7 || report.Stages[0].Stage != "configuration" {
			t.Errorf("the report is %+v", report)
		}
		for path, want := range map[string]int{"/healthz": http.StatusOK, "/": http.StatusNotFound} {
			answer, err := http.Get("http://" + address + path)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("GET %s: %s, want %d", path, answer.Status, want)
			}
		}
		http.DefaultClient.CloseIdleConnections()
		b.stop()
		b.waitFor("stopped")
		if exit := <-b.exit; exit != cli.Done {
			t.Errorf("exit code %d", exit)
		}
		s.fails(t, cli.Failed, []string{"health", "--health", address}, "ask "+address)
	})
}

// Whoever reaches the address may read it, so that only this host may.
func TestHealthIsForThisHostOnly(t *testing.T) {
	t.Parallel()
	s := shell{env: map[string]string{"NEXTRUN_DB": "sqlite:" + t.TempDir() + "/none.db"}}
	for _, address := range []string{"0.0.0.0:8321", ":8321", "10.1.2.3:8321", "[::]:8321", "example.org:8321", "127.0.0.1", "8321"} {
		for _, command := range []string{"serve", "executor", "health"} {
			s.fails(t, cli.WrongUsage, []string{command, "--health", address}, "use a loopback address with a port")
		}
	}
	s.fails(t, cli.WrongUsage, []string{"health"}, "missing --health")
}
