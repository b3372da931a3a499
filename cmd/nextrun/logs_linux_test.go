package main_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/program"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/lifecycle"
)

// logged is a running service whose log goes where a test says.
type logged struct {
	*testing.T
	*program.Process
	shell  clitest.Shell
	health string // address
	dir    string
}

// systemd is what a service manager says to a service, and means for no other process.
var systemd = []string{"WATCHDOG_USEC=60000000", "LISTEN_FDS=1", "LISTEN_PID=1", "LISTEN_FDNAMES=a", "JOURNAL_STREAM=8:1",
	"CREDENTIALS_DIRECTORY=/run/credentials/x", "INVOCATION_ID=17"}

// serveTo starts a service with a handler that writes its environment and its ignored signals to the file child.
func serveTo(t *testing.T, s clitest.Shell, log *os.File) *logged {
	t.Helper()
	l := &logged{T: t, shell: s, health: freeAddress(t), dir: t.TempDir()}
	config := filepath.Join(l.dir, "nextrun.yaml")
	write(t, config, "handlers: {look: {command: [sh, -c, 'env > new; grep SigIgn /proc/self/status >> new; mv new child'], dir: '"+l.dir+"'}}")
	command := exec.Command(build(t), "serve", "--config", config, "--health", l.health)
	command.Env = append(append(os.Environ(), systemd...), "NEXTRUN_DB="+s.Env["NEXTRUN_DB"], "NEXTRUN_NAME=test")
	if log != nil {
		command.Stderr = log
	}
	l.Process = program.Start(t, command)
	storetest.Eventually(t, "the service is healthy", func() bool {
		report, err := lifecycle.AskHealth(t.Context(), l.health)
		return err == nil && report.Healthy
	})
	return l
}

// works has a job run, and the service say that it is healthy although lines were lost.
func (l *logged) works() {
	l.Helper()
	_ = os.Remove(filepath.Join(l.dir, "child"))
	l.shell.Exec(l.T, `INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('look', 'look', 'yearly', '2026-01-01 00:00:00')`)
	storetest.Eventually(l, "the job's command has run", func() bool {
		_, err := os.Stat(filepath.Join(l.dir, "child"))
		return err == nil
	})
	storetest.Eventually(l, "the job has ended", func() bool {
		return strings.Contains(l.shell.Must(l.T, "job", "list", "--task", "look"), " success")
	})
	l.shell.Says(l.T, ui.Done, "health --health "+l.health, "scheduler up", "log up", "lost: nobody took them")
}

// ends has a signal end the idle service in order and soon.
func (l *logged) ends() {
	l.Helper()
	begun := time.Now()
	l.Signal(syscall.SIGTERM)
	if exit, took := l.End(), time.Since(begun); exit != ui.Done || took > 5*time.Second {
		l.Errorf("exit code %d after %s", exit, took)
	}
}

// A service that can start no program says so, and is well when it can again.
func TestHealthSaysThatNoProgramCanStart(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": storetest.SQLiteURL(t), "NEXTRUN_NAME": "test"}}
	s.Must(t, "migrate", "up")
	l := serveTo(t, s, nil)
	limit := func(files int) {
		t.Helper()
		pid, n := strconv.Itoa(l.Command.Process.Pid), strconv.Itoa(files)
		if out, err := exec.CommandContext(t.Context(), "prlimit", "--pid", pid, "--nofile="+n+":4096").CombinedOutput(); err != nil {
			t.Fatalf("prlimit: %v\n%s", err, out)
		}
	}
	programs := func() lifecycle.State {
		report, err := lifecycle.AskHealth(t.Context(), l.health)
		at := slices.IndexFunc(report.Stages, func(one lifecycle.StageHealth) bool { return one.Stage == "programs" })
		if err != nil || at < 0 {
			t.Fatalf("the report is %+v: %v", report, err)
		}
		return report.Stages[at].State
	}
	open, err := os.ReadDir("/proc/" + strconv.Itoa(l.Command.Process.Pid) + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	limit(len(open) + 5) // a program needs more: pipes for what it reads and writes
	s.Must(t, "job", "submit", "look")
	storetest.Eventually(t, "its health says so", func() bool { return programs() == lifecycle.Failed })
	s.Says(t, ui.Failed, "health --health "+l.health, "the last program could not be started", "too many open files")
	limit(4096)
	s.Must(t, "job", "submit", "look")
	storetest.Eventually(t, "it is well", func() bool { return programs() == lifecycle.Up })
	l.ends()
}

// Nobody reads the log's pipe: the service goes on, says so, and ends when it has to.
func TestServiceGoesOnWhenNobodyReadsItsLog(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		read, log, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer read.Close()
		l := serveTo(t, s, log)
		_ = log.Close()
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, nextrun)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
			SELECT 'task-with-a-name-that-makes-its-line-in-the-log-a-long-one-' || i, 'nobody', 'yearly', '2026-01-01 00:00:00' FROM n`)
		storetest.Eventually(t, "lines are lost", func() bool {
			report, err := lifecycle.AskHealth(t.Context(), l.health)
			return err == nil && report.LogLost > 0
		})
		l.works()
		l.ends()
	})
}

// The reader of the log has gone, or the disk is full: the service goes on, and its commands inherit nothing of that,
// nor what the service manager told the service.
func TestServiceGoesOnWithoutItsLog(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		read, log, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		l := serveTo(t, s, log)
		_ = log.Close()
		if !bufio.NewScanner(read).Scan() {
			t.Fatal("it has no log")
		}
		_ = read.Close()
		l.works()
		child := readFile(t, filepath.Join(l.dir, "child"))
		for _, pair := range systemd {
			if strings.Contains(child, pair) {
				t.Errorf("the command gets %s", pair)
			}
		}
		_, ignored, _ := strings.Cut(child, "SigIgn:\t")
		mask, err := strconv.ParseUint(strings.TrimSpace(ignored[:min(len(ignored), 16)]), 16, 64)
		if err != nil || mask>>(syscall.SIGPIPE-1)&1 != 0 {
			t.Errorf("the command ignores SIGPIPE: %v\n%s", err, child)
		}
		l.ends()
	})
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = full.Close() })
	t.Run("full disk", func(t *testing.T) {
		t.Parallel()
		s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": storetest.SQLiteURL(t), "NEXTRUN_NAME": "test"}}
		s.Must(t, "migrate", "up")
		l := serveTo(t, s, full)
		l.works()
		l.ends()
	})
}

// The command of a job does not outlive an executor that is killed: another one
// will run the job again.
func TestCommandEndsWithAKilledExecutor(t *testing.T) {
	t.Parallel()
	url, dir := storetest.SQLiteURL(t), t.TempDir()
	config, mark := filepath.Join(dir, "nextrun.yaml"), filepath.Join(dir, "mark")
	write(t, config, `
handlers:
  long:
    command: [sh, -c, 'echo $$ > "$MARK.new"; mv "$MARK.new" "$MARK"; exec sleep 600']
    env: {MARK: "`+mark+`"}
`)
	nextrun(t, url, ui.Done, "migrate", "up")
	p := startProcess(t, url, "executor", "--config", config)
	p.WaitFor("executor started")
	nextrun(t, url, ui.Done, "job", "submit", "long")
	var pid string
	storetest.Eventually(t, "the command runs", func() bool {
		text, err := os.ReadFile(mark)
		pid = strings.TrimSpace(string(text))
		return err == nil
	})
	if !lives(pid) {
		t.Fatalf("there is no process %s", pid)
	}
	t.Cleanup(func() {
		if id, err := strconv.Atoi(pid); err == nil && t.Failed() {
			_ = syscall.Kill(id, syscall.SIGKILL)
		}
	})
	p.Signal(syscall.SIGKILL)
	p.End()
	storetest.Eventually(t, "the command has ended", func() bool { return !lives(pid) })
}

// lives reports whether a process is there and is more than a zombie.
func lives(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}
