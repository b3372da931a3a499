package hostile_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// binary is nextrun as users have it.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "nextrun-hostile-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "nextrun")
	if out, err := exec.Command("go", "build", "-o", binary, "..").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// settings of `make hostile`.
type settings struct {
	seed     uint64
	duration time.Duration // 0: the short form
	database string        // only this kind; empty, both: all
	healthy  int
}

func readSettings(t *testing.T) settings {
	t.Helper()
	number := func(name string, otherwise int) int {
		text := os.Getenv(name)
		if text == "" {
			return otherwise
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s is %q: %v", name, text, err)
		}
		return n
	}
	s := settings{seed: 1, database: os.Getenv("NEXTRUN_HOSTILE_DATABASE"), healthy: 24}
	if text := os.Getenv("NEXTRUN_HOSTILE_DURATION"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("NEXTRUN_HOSTILE_DURATION is %q: %v", text, err)
		}
		s.duration, s.healthy, s.seed = d, 1000, uint64(time.Now().UnixNano()&0xffffff)
	}
	s.healthy = number("NEXTRUN_HOSTILE_HEALTHY", s.healthy)
	s.seed = uint64(number("NEXTRUN_HOSTILE_SEED", int(s.seed)))
	return s
}

// long reports whether this is `make hostile`.
func (s settings) long() bool { return s.duration > 0 }

// parallel lets the tests of the short form run beside each other. Those of the long one
// have a thousand tasks each.
func (s settings) parallel(t *testing.T) {
	t.Helper()
	if !s.long() {
		t.Parallel()
	}
}

// kinds are the databases of the run.
func (s settings) kinds() []string {
	if s.database != "" && s.database != "both" {
		return []string{s.database}
	}
	return []string{sqlite, postgres}
}
