//go:build crashpoints && linux

package crash_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store/internal/testkit/crash"
)

func TestMain(m *testing.M) {
	crash.Main()
	migrated.VerifyTestMain(m)
}

// TestCrashPoints kills a process at its steps, and another one takes over. Nothing is lost or done twice, by our own count
// and by nextrun's. NEXTRUN_CRASH_RUNS=20 does so at twenty steps of each mode, each in its part of all steps; without
// it, at each step.
func TestCrashPoints(t *testing.T) {
	seed := setting(t, "NEXTRUN_CRASH_SEED", int(time.Now().Unix()%1_000_000))
	t.Logf("seed %d", seed)
	for i, mode := range []string{"shared", "leader"} {
		for _, kind := range kinds(i + seed) {
			t.Run(mode+"/"+kind, func(t *testing.T) {
				t.Parallel()
				all := newWorld(t, kind, mode).crash(0).steps
				runs, killed := setting(t, "NEXTRUN_CRASH_RUNS", all), atomic.Int64{}
				t.Cleanup(func() {
					if t.Logf("of %d processes with %d steps, %d were killed", runs, all, killed.Load()); int(killed.Load()) < runs/2 {
						t.Error("too few were killed")
					}
				})
				for _, step := range chosen(all, runs, seed) {
					t.Run(strconv.Itoa(step), func(t *testing.T) {
						t.Parallel()
						if newWorld(t, kind, mode).crash(step).killed() {
							killed.Add(1)
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
	seed := setting(t, "NEXTRUN_CRASH_SEED", int(time.Now().Unix()%1_000_000))
	for i, command := range []string{"up", "down --yes"} {
		for _, kind := range kinds(i + seed) {
			t.Run(command+"/"+kind, func(t *testing.T) {
				t.Parallel()
				empty := i == 0
				all := migrate(newDatabase(t, kind, empty), 0, command).steps
				for _, step := range chosen(all, setting(t, "NEXTRUN_CRASH_RUNS", all), seed) {
					d := newDatabase(t, kind, empty)
					if p := migrate(d, step, command); !p.killed() {
						t.Errorf("%d of %d steps: %v\n%s", step, all, p.err, p.said.String())
					}
					for _, then := range []string{"up", "status"} { // status ends with 3 if anything differs
						if p := migrate(d, 0, then); p.err != nil {
							t.Errorf("killed at step %d, then migrate %s: %v\n%s", step, then, p.err, p.said.String())
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

func migrate(d *storetest.Database, step int, command string) *process {
	p := start(d, crash.Place{Step: step}, nil, append([]string{"migrate"}, strings.Fields(command)...)...)
	<-p.ended
	return p
}

// process is a running nextrun.
type process struct {
	*exec.Cmd
	said  bytes.Buffer
	ended chan struct{} // closed: it has ended
	err   error         // why, once it has
	steps int           // that it made until then, if it ended by itself
}

func start(d *storetest.Database, at crash.Place, env []string, args ...string) *process {
	d.Helper()
	p := &process{Cmd: crash.Command(at, args...), ended: make(chan struct{})}
	p.Env = append(append(p.Env, "NEXTRUN_DB="+d.URL), env...)
	p.Stdout, p.Stderr = &p.said, &p.said
	if err := p.Start(); err != nil {
		d.Fatal(err)
	}
	go func() {
		p.err = p.Wait()
		_, steps, _ := strings.Cut(p.said.String(), crash.Steps)
		p.steps, _ = strconv.Atoi(strings.TrimSpace(steps))
		close(p.ended)
	}()
	d.Cleanup(func() {
		_ = p.Process.Kill()
		if <-p.ended; d.Failed() {
			d.Logf("a process said:\n%s", p.said.String())
		}
	})
	return p
}

// killed reports whether the process, which has ended, was killed.
func (p *process) killed() bool {
	exit := (*exec.ExitError)(nil)
	return errors.As(p.err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
}

// chosen are so many steps, one of each part of all.
func chosen(steps, runs, seed int) (list []int) {
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	for i := range min(runs, steps) {
		from, to := i*steps/runs, (i+1)*steps/runs
		list = append(list, 1+from+r.IntN(max(to-from, 1)))
	}
	return list
}

// setting is a number of the environment.
func setting(t *testing.T, name string, value int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return value
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s is %q: %v", name, text, err)
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
		return all[n%2:][:1]
	default:
		return []string{one}
	}
}
