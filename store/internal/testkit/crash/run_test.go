//go:build crashpoints && linux

package crash_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/program"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store/internal/testkit/crash"
)

func TestMain(m *testing.M) {
	crash.Main()
	migrated.VerifyTestMain(m)
}

// How tests choose places: runs of each kind; 0: all.
var seed, runs = cmp.Or(setting("NEXTRUN_CRASH_SEED"), int(time.Now().Unix()%1_000_000)), setting("NEXTRUN_CRASH_RUNS")

var signals = map[string]syscall.Signal{"kill": syscall.SIGKILL, "stop": syscall.SIGSTOP}

// TestCrashPoints kills or stops a process at its steps, and another one takes over; then the one that was stopped goes on.
// Nothing is lost or done twice, by our own count and by nextrun's.
func TestCrashPoints(t *testing.T) {
	t.Logf("seed %d", seed)
	for i, fate := range []string{"kill/shared", "kill/leader", "stop/leader", "stop/shared"} {
		what, mode, _ := strings.Cut(fate, "/")
		for _, kind := range kinds(i) {
			t.Run(fate+"/"+kind, func(t *testing.T) {
				t.Parallel()
				list, hit := places(t, newWorld(t, kind, mode).crash(crash.Place{}), signals[what]), atomic.Int64{}
				t.Cleanup(func() {
					if t.Logf("%s: %d of %d processes", what, hit.Load(), len(list)); int(hit.Load()) < len(list)/4 {
						t.Error("too few")
					}
				})
				for n, at := range list {
					t.Run(strconv.Itoa(n), func(t *testing.T) {
						t.Parallel()
						t.Logf("%+v", at)
						w := newWorld(t, kind, mode)
						if p := w.crash(at); w.stopped || killed(p) {
							hit.Add(1)
						}
					})
				}
			})
		}
	}
}

// TestMigrationsAreKilled kills `migrate up` on an empty database and `migrate down` on one with rows. The program then makes
// the schema whole.
func TestMigrationsAreKilled(t *testing.T) {
	for i, command := range []string{"up", "down --yes"} {
		for _, kind := range kinds(i) {
			t.Run(command+"/"+kind, func(t *testing.T) {
				t.Parallel()
				empty := i == 0
				list := places(t, migrate(newDatabase(t, kind, empty), crash.Place{}, command), syscall.SIGKILL)
				t.Logf("killed at %d places", len(list))
				for _, at := range list {
					d := newDatabase(t, kind, empty)
					if p := migrate(d, at, command); !killed(p) {
						t.Errorf("not killed at %+v:\n%s", at, p.Said())
					}
					for _, then := range []string{"up", "status"} { // status ends with 3 if anything differs
						if p := migrate(d, crash.Place{}, then); p.End() != 0 {
							t.Errorf("killed at %+v, then migrate %s:\n%s", at, then, p.Said())
						}
					}
				}
			})
		}
	}
}

func newDatabase(t *testing.T, kind string, empty bool) *storetest.Database {
	t.Helper()
	if empty {
		return storetest.New(t, kind)
	}
	d := migrated.New(t, kind).Database
	d.Exec("INSERT INTO periodic_task (id, task, timer) VALUES ('kept', 'x', 'daily'); INSERT INTO job (jid, task) VALUES ('kept', 'x')")
	return d
}

func migrate(d *storetest.Database, at crash.Place, command string) *program.Process {
	p := start(d, at, nil, append([]string{"migrate"}, strings.Fields(command)...)...)
	p.End()
	return p
}

// start starts nextrun.
func start(d *storetest.Database, at crash.Place, env []string, args ...string) *program.Process {
	d.Helper()
	command := crash.Command(at, args...)
	command.Env = append(append(command.Env, "NEXTRUN_DB="+d.URL), env...)
	p := program.Start(d, command)
	d.Cleanup(func() {
		if said, _, _ := strings.Cut(p.Said(), crash.Steps); d.Failed() {
			d.Logf("a process said:\n%s", said)
		}
	})
	return p
}

// killed reports whether the process, which has ended, was killed.
func killed(p *program.Process) bool {
	return p.Command.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
}

// stopped reports whether the process has stopped.
func stopped(p *program.Process) bool {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Command.Process.Pid)) // gone: it has ended
	return bytes.Contains(text, []byte(") T "))
}

// places are those at which something is to happen to a process: the steps of one that has ended by itself, each the first
// time and one of the next seven times.
func places(t *testing.T, p *program.Process, signal syscall.Signal) (list []crash.Place) {
	t.Helper()
	var made map[string]int
	_, text, _ := strings.Cut(p.Said(), crash.Steps)
	if err := json.Unmarshal([]byte(text), &made); err != nil {
		t.Fatalf("%v:\n%s", err, p.Said())
	}
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	for _, step := range slices.Sorted(maps.Keys(made)) {
		list = append(list, crash.Place{Step: step, Nth: 1, Signal: signal})
		if n := made[step]; n > 1 {
			list = append(list, crash.Place{Step: step, Nth: 2 + r.IntN(min(n-1, 7)), Signal: signal})
		}
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	if runs > 0 {
		list = list[:min(runs, len(list))]
	}
	return list
}

// setting is a number of the environment; 0: none.
func setting(name string) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv(name), "0"))
	if err != nil {
		panic(err)
	}
	return n
}

// kinds are the databases: both, that of NEXTRUN_CRASH_DATABASE, or one after the other if it is "alternate".
func kinds(n int) []string {
	all := []string{storetest.SQLite, storetest.Postgres}
	switch one := os.Getenv("NEXTRUN_CRASH_DATABASE"); one {
	case "":
		return all
	case "alternate":
		return all[(n+seed)%2:][:1]
	default:
		return []string{one}
	}
}
