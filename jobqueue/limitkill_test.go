package jobqueue_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store"
)

// TestLimitedExecutor is not a test but the executor process of
// TestLimitHoldsWhileExecutorsAreKilled. Its handler writes down when it begins and ends.
func TestLimitedExecutor(t *testing.T) {
	url := os.Getenv("LIMITED_DB")
	if url == "" {
		return
	}
	ctx := context.Background()
	db, err := store.Open(ctx, url, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	journal, err := os.OpenFile(os.Getenv("LIMITED_JOURNAL"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	e, err := jobqueue.NewExecutor(db.Jobs(), jobqueue.Config{
		Name: "limited", Lease: time.Second, MaxInterrupts: 1000, ShutdownGrace: time.Second, Logger: silent,
	})
	if err != nil {
		t.Fatal(err)
	}
	e.Register("x", func(ctx context.Context, job *jobqueue.JobContext) error {
		if _, err := fmt.Fprintf(journal, "begin %d %s\n", os.Getpid(), job.JID); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(40 * time.Millisecond):
		}
		_, err := fmt.Fprintf(journal, "end %d %s\n", os.Getpid(), job.JID)
		return err
	})
	if err := e.Start(ctx); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until the parent says so, or is gone
	if err := e.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// limitedProcess is one of the executor processes.
type limitedProcess struct {
	*exec.Cmd
	stdin io.Closer
}

func (q *fixture) limitedProcess(journal string) limitedProcess {
	q.Helper()
	p := limitedProcess{Cmd: exec.Command(os.Args[0], "-test.run", "^TestLimitedExecutor$")}
	p.Env = append(os.Environ(), "LIMITED_DB="+q.URL, "LIMITED_JOURNAL="+journal)
	p.Stderr = os.Stderr
	stdin, err := p.StdinPipe()
	if err != nil {
		q.Fatal(err)
	}
	p.stdin = stdin
	if err := p.Start(); err != nil {
		q.Fatal(err)
	}
	q.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// Four processes share a limit of two while one after the other is killed in the midst
// of its jobs. At every moment at most two jobs run: by the database, which counts those
// of the dead until others take them back, and by what the handlers do.
func TestLimitHoldsWhileExecutorsAreKilled(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		const kills, jobs = 5, 60
		q.sql("INSERT INTO job_limit (kind, name, most) VALUES ('task', 'x', 2)")
		q.submit(manyJobs(jobs)...)
		path := filepath.Join(t.TempDir(), "journal")
		journal, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer journal.Close()
		var alive []limitedProcess
		for range 4 {
			alive = append(alive, q.limitedProcess(path))
		}
		killed := 0
		again := time.NewTicker(5 * time.Millisecond) // leave the processors to the executors
		defer again.Stop()
		for deadline := time.Now().Add(patience); ; <-again.C {
			if n := q.value("SELECT count(*) FROM job WHERE state = 'running'"); n != "0" && n != "1" && n != "2" {
				t.Errorf("%s jobs run", n)
			}
			if q.value("SELECT count(*) FROM job WHERE state <> 'success'") == "0" {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("waited too long: %s jobs are left", q.value("SELECT count(*) FROM job WHERE state <> 'success'"))
			}
			if pid := beginsNow(t, path); pid != "" && killed < kills {
				for i, p := range alive {
					if fmt.Sprint(p.Process.Pid) == pid {
						killed++
						_ = p.Process.Kill()
						_ = p.Wait()
						fmt.Fprintf(journal, "killed %s\n", pid)
						alive[i] = q.limitedProcess(path)
						q.submit(manyJobs(jobs / kills)...)
					}
				}
			}
		}
		for _, p := range alive {
			_ = p.stdin.Close()
			if err := p.Wait(); err != nil {
				t.Error(err)
			}
		}
		if most := mostAtOnce(t, path); killed < kills || most != 2 {
			t.Errorf("%d processes were killed, and at most %d handlers ran at once", killed, most)
		}
	})
}

func manyJobs(n int) []jobqueue.Job { return slices.Repeat([]jobqueue.Job{{Task: "x"}}, n) }

// beginsNow is the process whose handler began last, if it has not ended.
func beginsNow(t *testing.T, journal string) (pid string) {
	t.Helper()
	readJournal(t, journal, func(what, who string) {
		if pid = ""; what == "begin" {
			pid = who
		}
	})
	return pid
}

// mostAtOnce is how many handlers of living processes ran at once.
func mostAtOnce(t *testing.T, journal string) (most int) {
	t.Helper()
	running := map[string]int{}
	readJournal(t, journal, func(what, pid string) {
		switch what {
		case "begin":
			running[pid]++
		case "end":
			running[pid]--
		case "killed":
			delete(running, pid)
		}
		sum := 0
		for _, n := range running {
			sum += n
		}
		most = max(most, sum)
	})
	return most
}

func readJournal(t *testing.T, path string, line func(what, pid string)) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 {
			line(fields[0], fields[1])
		}
	}
}
