//go:build soak

package jobqueue_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store"
)

// The soak runs four executors as processes of their own, kills and stops them
// at random, and then accounts for every job:
//
//	go test -tags soak -run TestSoak -timeout 30m ./jobqueue
//
// SOAK is for how long, 5m by default.
const (
	soakExecutors = 4
	soakLease     = 3 * time.Second
)

// TestSoakExecutor is not a test but the executor process of the soak.
func TestSoakExecutor(t *testing.T) {
	url, effects := os.Getenv("SOAK_DB"), os.Getenv("SOAK_EFFECTS")
	if url == "" {
		return // TestSoak runs it in processes of its own
	}
	ctx := context.Background()
	db, err := store.Open(ctx, url, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	file, err := os.OpenFile(effects, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	logger := logrus.New()
	logger.SetLevel(logrus.WarnLevel)
	e, err := jobqueue.NewExecutor(db.Jobs(), jobqueue.Config{
		Name: "soak", PoolSize: 20, Lease: soakLease, RetryDelay: 50 * time.Millisecond, RetryLimit: 100,
		MaxInterrupts: 1000, ShutdownGrace: time.Second, Logger: logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	e.Register("soak", func(ctx context.Context, job *jobqueue.JobContext) error {
		if _, err := fmt.Fprintf(file, "%s %d\n", job.JID, job.Attempt()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(length(job)):
		}
		if rand.N(10) == 0 {
			return errors.New("bad luck")
		}
		return nil
	})
	if err := e.Start(ctx); err != nil {
		t.Fatal(err)
	}
	_, _ = bufio.NewReader(os.Stdin).ReadByte() // until the parent says so, or is gone
	if err := e.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// length is how long a job takes. Short ones are claimed ahead.
func length(job *jobqueue.JobContext) time.Duration {
	if job.Args == "short" {
		return 0
	}
	return rand.N(300 * time.Millisecond)
}

// victim is an executor process.
type victim struct {
	*exec.Cmd
	stdin  interface{ Close() error }
	exited chan struct{}
}

func (q *fixture) victim(effects string) *victim {
	q.Helper()
	v := &victim{Cmd: exec.Command(os.Args[0], "-test.run", "^TestSoakExecutor$"), exited: make(chan struct{})}
	v.Env = append(os.Environ(), "SOAK_DB="+q.URL, "SOAK_EFFECTS="+effects)
	v.Stderr, v.Stdout = os.Stderr, os.Stderr
	stdin, err := v.StdinPipe()
	if err != nil {
		q.Fatal(err)
	}
	v.stdin = stdin
	if err := v.Start(); err != nil {
		q.Fatal(err)
	}
	go func() { _ = v.Wait(); close(v.exited) }()
	return v
}

func TestSoak(t *testing.T) {
	length := 5 * time.Minute
	if text := os.Getenv("SOAK"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	onBoth(t, func(t *testing.T, q *fixture) {
		effects := filepath.Join(t.TempDir(), "effects")
		submitted := q.torment(length, effects)
		q.account(submitted, effects)
		q.Verify()
	})
}

// torment submits jobs while it kills and stops executors, then lets the rest
// end in peace.
func (q *fixture) torment(length time.Duration, effects string) int {
	victims := make([]*victim, soakExecutors)
	for i := range victims {
		victims[i] = q.victim(effects)
	}
	submitted, kills, stops := 0, 0, 0
	for end := time.Now().Add(length); time.Now().Before(end); <-time.After(100 * time.Millisecond) {
		for range rand.N(15) {
			_, err := q.queue.Submit(q.ctx, jobqueue.Job{Task: "soak", Group: fmt.Sprint(rand.N(5)), Priority: 10 * rand.N(2)})
			if errors.Is(err, store.ErrBusy) {
				continue // SQLite, while a stopped process has the file locked
			}
			if err != nil {
				q.Fatal(err)
			}
			submitted++
		}
		if rand.N(20) == 0 {
			submitted += q.burst(1000)
		}
		i := rand.N(soakExecutors)
		switch rand.N(30) {
		case 0:
			kills++
			_ = victims[i].Process.Kill()
			<-victims[i].exited
			victims[i] = q.victim(effects)
		case 1:
			stops++
			process := victims[i].Process
			_ = process.Signal(syscall.SIGSTOP)
			time.AfterFunc(soakLease+rand.N(soakLease), func() { _ = process.Signal(syscall.SIGCONT) })
		}
	}
	q.Logf("%d jobs, %d kills, %d stops", submitted, kills, stops)
	<-time.After(2 * soakLease) // the last ones go on
	for deadline := time.Now().Add(3 * time.Minute); ; <-time.After(time.Second) {
		left := q.value("SELECT count(*) FROM job WHERE state NOT IN ('success', 'failed', 'cancelled')")
		if left == "0" {
			break
		}
		if time.Now().After(deadline) {
			q.Fatalf("%s jobs are not final", left)
		}
	}
	for _, v := range victims {
		_ = v.stdin.Close()
		<-v.exited
	}
	return submitted
}

// burst submits short jobs, as far as the database takes them.
func (q *fixture) burst(n int) int {
	jobs := make([]jobqueue.Job, n)
	for i := range jobs {
		jobs[i] = jobqueue.Job{Task: "soak", Group: fmt.Sprint(rand.N(5)), Args: "short"}
	}
	_, err := q.queue.Submit(q.ctx, jobs...)
	if errors.Is(err, store.ErrBusy) {
		return 0
	}
	if err != nil {
		q.Fatal(err)
	}
	return n
}

// account explains every job and every side effect.
func (q *fixture) account(submitted int, effects string) {
	if n := q.value("SELECT count(*) FROM job"); n != fmt.Sprint(submitted) {
		q.Errorf("%s jobs of %d submitted", n, submitted)
	}
	text, err := os.ReadFile(effects)
	if err != nil {
		q.Fatal(err)
	}
	ran := map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		jid, _, _ := strings.Cut(line, " ")
		ran[jid]++
	}
	rows, err := q.SQL.QueryContext(q.ctx, `SELECT j.jid, j.state, j.retries, j.interrupts,
			(SELECT count(*) FROM joblog AS l WHERE l.jid = j.jid AND l.message LIKE 'attempt % begins on %'),
			(SELECT count(*) FROM joblog AS l WHERE l.jid = j.jid AND l.message LIKE 'failed, to be tried again%'),
			(SELECT count(*) FROM joblog AS l WHERE l.jid = j.jid AND l.message LIKE 'interrupted: %'),
			(SELECT count(*) FROM joblog AS l WHERE l.jid = j.jid AND l.message LIKE 'put back: %')
		FROM job AS j`)
	if err != nil {
		q.Fatal(err)
	}
	defer rows.Close()
	interrupted, retried := 0, 0
	for rows.Next() {
		var jid, state string
		var retries, interrupts, begun, failed, taken, returned int
		if err := rows.Scan(&jid, &state, &retries, &interrupts, &begun, &failed, &taken, &returned); err != nil {
			q.Fatal(err)
		}
		interrupted, retried = interrupted+interrupts, retried+retries
		switch {
		case state != "success":
			q.Errorf("job %s is %s", jid, state)
		case begun != 1+failed+taken+returned || failed != retries || taken != interrupts:
			q.Errorf("job %s: %d attempts, but %d failed of %d retries, %d interrupted of %d, %d put back",
				jid, begun, failed, retries, taken, interrupts, returned)
		case ran[jid] > begun || ran[jid] < 1+failed:
			q.Errorf("job %s: ran %d times, %d attempts, %d failed", jid, ran[jid], begun, failed)
		}
	}
	if err := rows.Err(); err != nil {
		q.Fatal(err)
	}
	q.Logf("%d interruptions, %d retries", interrupted, retried)
}
