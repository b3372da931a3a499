package hostile_test

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/program"
)

func TestMain(m *testing.M) { program.Main(m) }

// The settings of `make hostile`.
var (
	flagSeed     = flag.Uint64("hostile.seed", 1, "which values, and in which order")
	flagDuration = flag.Duration("hostile.duration", 0, "0: the short form")
	flagDatabase = flag.String("hostile.database", "both", "or only a kind")
	flagHealthy  = flag.Int("hostile.healthy", 24, "healthy tasks")
)

// long reports whether this is `make hostile`.
func long() bool { return *flagDuration > 0 }

// onEach runs a test on the databases of the run. Those of the short form run beside each other; those of the long one have
// a thousand tasks each.
func onEach(t *testing.T, test func(e environment)) {
	if !long() {
		t.Parallel()
	}
	for _, kind := range []string{sqlite, postgres} {
		if *flagDatabase != "both" && *flagDatabase != kind {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			if !long() {
				t.Parallel()
			}
			t.Logf("-hostile.seed=%d", *flagSeed)
			test(newEnvironment(newDatabase(t, kind), receiver(t)))
		})
	}
}

// receiver takes the calls of jobs and of the relay, and returns its address.
func receiver(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(server.Close)
	return server.URL
}
