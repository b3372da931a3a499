package store_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/store"
)

// holderURL is the environment of a holder: another process of the test's program.
const holderURL = "NEXTRUN_TEST_HOLDER_URL"

// TestHolder is no test but a process of others: it runs a job until it is killed.
func TestHolder(t *testing.T) {
	url := os.Getenv(holderURL)
	if url == "" {
		return
	}
	db, err := store.Open(context.Background(), url, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	begun := make(chan string, 1)
	e := executing(t, db, "holder", begun, make(chan struct{}))
	fmt.Println("holds", <-begun)
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = e.Stop(context.Background())
}

// executing starts an executor whose jobs end when they may.
func executing(t testing.TB, db *store.DB, name string, begun chan<- string, end <-chan struct{}) *executor.Executor {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	e, err := executor.New(db.Jobs(), executor.Config{Name: name, PoolSize: 1, PollInterval: time.Hour, Logger: log, ShutdownGrace: -1})
	if err != nil {
		t.Fatal(err)
	}
	e.Register("report", func(ctx context.Context, job *jobqueue.JobContext) error {
		begun <- job.JID
		select {
		case <-end:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	if err := e.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return e
}

// startHolder starts a process and waits until it runs a job.
func startHolder(t testing.TB, url string) *exec.Cmd {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^TestHolder$")
	command.Env = append(os.Environ(), holderURL+"="+url, "GORACE=atexit_sleep_ms=0")
	command.Stderr = os.Stderr
	stdin, err1 := command.StdinPipe()
	stdout, err2 := command.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait(); _ = stdin.Close() })
	said := bufio.NewScanner(stdout)
	if said.Scan(); said.Text() != "holds job" {
		t.Fatalf("the process said %q", said.Text())
	}
	return command
}

// A killed executor's job runs again within 12 s. Beside it lives one whose job nobody takes, although its row is locked.
func TestJobOfAKilledExecutorRunsAgain(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		d.Exec("INSERT INTO job (jid, task) VALUES ('job', 'report')")
		killed := startHolder(t, d.URL)
		dead := d.One("SELECT worker FROM job")
		begun, end := make(chan string, 8), make(chan struct{})
		d.Exec("INSERT INTO job (jid, task) VALUES ('lives', 'report')")
		lives := executing(t, d.Open(), "lives", begun, end)
		t.Cleanup(func() { _ = lives.Stop(context.Background()) })
		<-begun
		if d.Kind == storetest.Postgres {
			d.Hold("SELECT 1 FROM worker WHERE id LIKE 'lives@%' FOR UPDATE")
		}
		heir := executing(t, d.Open(), "holder", begun, end)
		t.Cleanup(func() { _ = heir.Stop(context.Background()) })
		storetest.Eventually(t, "the heir looks", func() bool {
			return d.One("SELECT count(*) FROM worker WHERE id = '"+heir.Worker()+"' AND beat > 1") == "1"
		})
		if err := killed.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		killedAt := time.Now()
		select {
		case jid := <-begun:
			if took := time.Since(killedAt); jid != "job" || took > 20*time.Second { // 12 s, and what a busy machine takes
				t.Errorf("%s began %s after the kill", jid, took)
			}
		case <-time.After(storetest.Patience):
			t.Fatal("nobody took over")
		}
		if now := d.One("SELECT worker FROM job WHERE jid = 'job'"); now != heir.Worker() {
			t.Errorf("the job of %s is run by %s", dead, now)
		}
		close(end)
		storetest.Eventually(t, "the jobs succeed", func() bool { return d.One("SELECT count(*) FROM job WHERE state = 'success'") == "2" })
		d.Want(lives.Worker()+" 0", "SELECT worker || ' ' || interrupts FROM job WHERE jid = 'lives'")
		d.Verify()
	})
}

// A process that stands still loses its job, and cannot change it any more when it goes on.
func TestJobOfAStoppedExecutorIsFenced(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		d.Exec("INSERT INTO job (jid, task) VALUES ('job', 'report')")
		stopped := startHolder(t, d.URL)
		begun, end := make(chan string, 8), make(chan struct{})
		heir := executing(t, d.Open(), "heir", begun, end)
		t.Cleanup(func() { _ = heir.Stop(context.Background()) })
		if err := stopped.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		select {
		case <-begun:
		case <-time.After(storetest.Patience):
			t.Fatal("nobody took over")
		}
		if err := stopped.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		before := d.One("SELECT max(beat) FROM worker WHERE id LIKE 'holder@%'")
		storetest.Eventually(t, "the stopped one beats again", func() bool {
			return d.One("SELECT max(beat) FROM worker WHERE id LIKE 'holder@%'") != before
		})
		close(end)
		storetest.Eventually(t, "the job succeeds", func() bool { return d.One("SELECT state FROM job") == "success" })
		d.Want(heir.Worker()+" 1", "SELECT worker || ' ' || interrupts FROM job")
	})
}

// Nobody waits for the table of workers, and nobody stops without it.
func TestLockedWorkersStopNobody(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	begun, end := make(chan string, 8), make(chan struct{})
	close(end)
	e := executing(t, d.Open(), "first", begun, end)
	d.Exec("INSERT INTO job (jid, task) VALUES ('before', 'report')")
	<-begun
	lock := d.Hold("LOCK TABLE worker IN ACCESS EXCLUSIVE MODE")
	d.Exec("INSERT INTO job (jid, task) VALUES ('while', 'report')")
	<-begun
	storetest.Eventually(t, "both jobs succeed", func() bool { return d.One("SELECT count(*) FROM job WHERE state = 'success'") == "2" })
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := e.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}
