//go:build crashpoints && linux

package crashpoint_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

func TestMain(m *testing.M) { os.Exit(suite(m)) }

// programVariable names a program that was built with crash points before.
const programVariable = "NEXTRUN_CRASH_PROGRAM"

// build builds nextrun with its crash points, for the first test that asks for it.
var build func() (binary string, err error)

func suite(m *testing.M) int {
	dir, err := os.MkdirTemp("", "nextrun-crashpoints-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	build = sync.OnceValues(func() (string, error) {
		if given := os.Getenv(programVariable); given != "" {
			return given, nil
		}
		binary := filepath.Join(dir, "nextrun")
		out, err := exec.Command("go", "build", "-tags", "crashpoints", "-o", binary, "../../cmd/nextrun").CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("go build: %w\n%s", err, out)
		}
		return binary, nil
	})
	return m.Run()
}

func built(t *testing.T) string {
	t.Helper()
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// setting is a number of the environment.
func setting(t *testing.T, name string, value int) int {
	t.Helper()
	if text := os.Getenv(name); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s is %q: %v", name, text, err)
		}
		return n
	}
	return value
}

// seed is what choices at random follow from: NEXTRUN_CRASH_SEED, or else the time.
func seed(t *testing.T) int {
	t.Helper()
	return setting(t, "NEXTRUN_CRASH_SEED", int(time.Now().Unix()%1_000_000))
}

// random makes the choices of one test, whatever others choose meanwhile.
func random(seed int, name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return rand.New(rand.NewPCG(uint64(seed), h.Sum64()))
}

// totals are what all points together have had.
type totals struct {
	mu                                    sync.Mutex
	points, runs, killed, stopped, failed int
}

func (a *totals) add(c *crashes) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.points++
	a.runs, a.killed, a.stopped = a.runs+c.n, a.killed+c.killed, a.stopped+c.stopped
	if c.t.Failed() {
		a.failed++
	}
}

func (a *totals) String() string {
	return fmt.Sprintf("%d points: %d runs, %d kills, %d stops; %d failed", a.points, a.runs, a.killed, a.stopped, a.failed)
}

var call = regexp.MustCompile(`\bAt\("([a-z/-]+)"\)`)

// allPoints are the names in the calls of the source, sorted.
func allPoints(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range call.FindAllSubmatch(text, -1) {
			found[string(m[1])] = true
		}
		return err
	})
	if err != nil || len(found) < 80 {
		t.Fatalf("%d points: %v", len(found), err)
	}
	return slices.Sorted(maps.Keys(found))
}

func exitCode(err error) int {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		return -2
	}
	return 0
}

// kinds are the databases on which to test a point: all, that of NEXTRUN_CRASH_DATABASE, or
// one after the other if it is "alternate".
func kinds(point int) []string {
	all := []string{storetest.SQLite, storetest.Postgres}
	switch one := os.Getenv("NEXTRUN_CRASH_DATABASE"); one {
	case "":
		return all
	case "alternate":
		return all[point%2:][:1]
	default:
		return []string{one}
	}
}
