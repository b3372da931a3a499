package executor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

// A slow logger must not make the executor sleep over the end of a job that
// began with others.
func TestEndIsRecordedSoonThoughOthersRunOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{overdue: exchange.Overdue{Next: -1}, jobs: []jobqueue.Job{{JID: "long", Task: "t"}, {JID: "short", Task: "t"}}}
		release := make(chan struct{})
		slow := func(e executor.Event) {
			if e.Kind == executor.EventBegun {
				pass(10 * time.Millisecond)
			}
		}
		_, stop := startFake(t, s, executor.Config{Observe: slow, PoolSize: 2}, func(_ context.Context, job *jobqueue.JobContext) error {
			if job.JID == "long" {
				<-release
				return nil
			}
			pass(50 * time.Millisecond)
			return nil
		})
		pass(200 * time.Millisecond)
		s.mu.Lock()
		if len(s.ended) != 1 || s.ended[0].JID != "short" {
			t.Errorf("ended after 200 ms: %+v", s.ended)
		}
		s.mu.Unlock()
		close(release)
		stop()
	})
}
