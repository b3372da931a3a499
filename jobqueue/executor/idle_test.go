package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/internal/jobdb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

func TestIdleExecutorOnlyPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{overdue: jobdb.Overdue{Next: -1}}
		_, stop := startFake(t, s, executor.Config{}, func(context.Context, *jobqueue.JobContext) error { return nil })
		pass(time.Hour + time.Second)
		if r, x := s.count("overdue"), s.count("sync"); r != 121 || x != 121 {
			t.Errorf("in an hour at a poll each 30 s: %d times recovered, %d times claimed; want 121 each", r, x)
		}
		if n := s.count("beat") + s.count("cancel"); n != 0 {
			t.Errorf("%d heartbeats or looks for cancellations without a job", n)
		}
		stop()
	})
}

func TestLeaseOfOthersIsCheckedWhenItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{overdue: jobdb.Overdue{Next: 7 * time.Second}}
		began := time.Now()
		_, stop := startFake(t, s, executor.Config{}, func(context.Context, *jobqueue.JobContext) error { return nil })
		pass(15 * time.Second)
		stop()
		for i, at := range s.checked {
			if want := time.Duration(i) * 7 * time.Second; at.Sub(began) != want {
				t.Errorf("checked after %s, want %s", at.Sub(began), want)
			}
		}
		if len(s.checked) != 3 {
			t.Errorf("checked %d times", len(s.checked))
		}
	})
}

func TestTroubleIsRetriedWithGrowingPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{overdue: jobdb.Overdue{Next: -1}, fail: errors.New("down")}
		_, stop := startFake(t, s, executor.Config{}, func(context.Context, *jobqueue.JobContext) error { return nil })
		pass(5 * time.Minute)
		// The pauses grow to 5 to 10 s, and a look may have to wait for the end of that of another try, too.
		if n := s.count("overdue"); n < 15 || n > 80 {
			t.Errorf("%d tries in five minutes of trouble", n)
		}
		stop()
	})
}

func TestLeaseThatCannotBeRenewedEndsTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{overdue: jobdb.Overdue{Next: -1}, jobs: []jobqueue.Job{{JID: "j", Task: "t"}}}
		began, ended := make(chan time.Time, 1), make(chan time.Time, 1)
		var cause error
		_, stop := startFake(t, s, executor.Config{}, func(ctx context.Context, _ *jobqueue.JobContext) error {
			began <- time.Now()
			<-ctx.Done()
			cause = context.Cause(ctx)
			ended <- time.Now()
			return ctx.Err()
		})
		from := <-began
		pass(time.Minute)
		if len(ended) > 0 {
			t.Fatal("the handler ended although the lease was renewed")
		}
		s.goDown(errors.New("down"))
		took := (<-ended).Sub(from) - time.Minute
		if !errors.Is(cause, jobqueue.ErrLeaseLost) || took < 20*time.Second || took > 45*time.Second {
			t.Errorf("ended %s after the database went, by %v", took, cause)
		}
		s.goDown(nil)
		stop()
	})
}

// While long jobs run, the executor renews their leases and looks for
// cancellations, and does nothing else: in a bubble, time passes only while it
// sleeps.
func TestLongJobsKeepNobodyBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{overdue: jobdb.Overdue{Next: -1}, jobs: []jobqueue.Job{{JID: "1", Task: "t"}, {JID: "2", Task: "t"}, {JID: "3", Task: "t"}}}
		_, stop := startFake(t, s, executor.Config{}, func(context.Context, *jobqueue.JobContext) error { pass(time.Hour); return nil })
		pass(30 * time.Minute)
		if n := s.count("beat"); n < 179 || n > 181 {
			t.Errorf("%d heartbeats in half an hour, want one each 10 s", n)
		}
		if n := s.count("sync"); n > 70 {
			t.Errorf("%d syncs in half an hour, want one each poll", n)
		}
		pass(time.Hour)
		stop()
		if len(s.ended) != 3 {
			t.Errorf("ended: %+v", s.ended)
		}
	})
}

func TestJobThatCannotBeToldOfHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{overdue: jobdb.Overdue{Next: -1}, jobs: []jobqueue.Job{{JID: "bad", Task: "t"}, {JID: "good", Task: "t"}}}
		e, _ := startFake(t, s, executor.Config{}, func(context.Context, *jobqueue.JobContext) error { return nil })
		pass(30 * time.Second)
		s.mu.Lock()
		if len(s.ended) != 1 || s.ended[0].JID != "good" {
			t.Errorf("ended: %+v", s.ended)
		}
		s.jobs = []jobqueue.Job{{JID: "next", Task: "t"}}
		s.mu.Unlock()
		e.Wake()
		pass(time.Second)
		s.mu.Lock()
		if len(s.ended) != 2 || s.ended[1].JID != "next" {
			t.Errorf("ended: %+v", s.ended)
		}
		s.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		if err := e.Stop(ctx); err == nil {
			t.Error("Stop does not name the job that is left")
		}
	})
}
