package executor_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

// The log is complete and in order, and can be seen while the job runs, as can its progress.
func TestLogIsCompleteAndInOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		const n = 5000
		release := make(chan struct{})
		e := q.run(executor.Config{}, map[string]jobqueue.Handler{
			"t": func(_ context.Context, job *jobqueue.JobContext) error {
				for i := range n {
					job.Logf(jobqueue.Debug, "line %d", i)
				}
				job.Log(jobqueue.Warn, "bad \xff and \x00")
				job.SetProgress(40)
				<-release
				return nil
			},
		})
		jid := q.submit(jobqueue.Job{Task: "t"})[0]
		storetest.Eventually(t, "progress and log are seen", func() bool {
			return q.get(jid).Progress == 40 && q.value("SELECT count(*) FROM joblog WHERE message LIKE 'bad%%'") == "1"
		})
		close(release)
		e.awaitEnd(jid, jobqueue.Success)
		log := q.log(jid)
		if len(log) != n+2 {
			t.Fatalf("%d lines, want %d", len(log), n+2)
		}
		for i, line := range log[1 : n+1] {
			if line != fmt.Sprintf("line %d", i) {
				t.Fatalf("line %d is %q", i, line)
			}
		}
		if log[n+1] != "bad \uFFFD and \uFFFD" {
			t.Errorf("last line %q", log[n+1])
		}
		// Followed with a cursor, in pages, it is the same.
		var followed []string
		after := int64(0)
		for {
			lines, err := q.queue.Logs(q.ctx, jobqueue.LogFilter{JID: jid, After: after, Limit: 700})
			if err != nil {
				t.Fatal(err)
			}
			if len(lines) == 0 {
				break
			}
			for _, line := range lines {
				followed = append(followed, line.Message)
				after = line.Counter
			}
		}
		if !slices.Equal(followed, log) {
			t.Errorf("%d lines followed", len(followed))
		}
	})
}

func TestLogOfAnAttemptIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const more = 1000
		s := &fakeStore{overdue: exchange.Overdue{Next: -1}, jobs: []jobqueue.Job{{JID: "j", Task: "t"}}}
		_, stop := startFake(t, s, executor.Config{}, func(_ context.Context, job *jobqueue.JobContext) error {
			for range jobqueue.MaxLogLines + more {
				job.Log(jobqueue.Info, "")
			}
			return nil
		})
		pass(time.Hour)
		stop()
		if n, want := len(s.lines), jobqueue.MaxLogLines+1; n != want {
			t.Fatalf("%d lines, want %d", n, want)
		}
		if last, want := s.lines[jobqueue.MaxLogLines], fmt.Sprintf("the log of this attempt is full; lines left out: %d", more); last != want {
			t.Errorf("the last line is %q, want %q", last, want)
		}
	})
}
