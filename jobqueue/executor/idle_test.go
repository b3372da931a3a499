package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

func TestIdleExecutorOnlyPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{overdue: exchange.Overdue{Next: -1}}
		_, stop := startFake(t, s, executor.Config{}, func(context.Context, *jobqueue.JobContext) error { return nil })
		pass(time.Hour + time.Second)
		if r, x, b := s.count("overdue"), s.count("sync"), s.count("beat"); r != 121 || x != 241 || b < 120 || b > 122 {
			t.Errorf("in an hour, each 30 s: %d times looked for what is due, %d times claimed or compared, %d times beaten; want 121, 241, 121", r, x, b)
		}
		if n := s.count("cancel"); n != 0 {
			t.Errorf("%d looks for cancellations without a job", n)
		}
		stop()
	})
}

func TestRetryIsCheckedWhenItIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{overdue: exchange.Overdue{Next: 7 * time.Second}}
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
		s := &fakeStore{overdue: exchange.Overdue{Next: -1}, fail: errors.New("down")}
		_, stop := startFake(t, s, executor.Config{}, func(context.Context, *jobqueue.JobContext) error { return nil })
		pass(5 * time.Minute)
		// The pauses grow to 5 to 10 s, and a look may have to wait for the end of that of another try, too.
		if n := s.count("overdue"); n < 15 || n > 80 {
			t.Errorf("%d tries in five minutes of trouble", n)
		}
		stop()
	})
}

// An outage ends no handler, however long it lasts.
func TestOutageEndsNoHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{overdue: exchange.Overdue{Next: -1}, jobs: []jobqueue.Job{{JID: "j", Task: "t"}}}
		var cause error
		_, stop := startFake(t, s, executor.Config{}, func(ctx context.Context, _ *jobqueue.JobContext) error {
			pass(time.Hour)
			cause = context.Cause(ctx)
			return nil
		})
		pass(time.Minute)
		s.goDown(errors.New("down"))
		pass(30 * time.Minute)
		s.goDown(nil)
		pass(30 * time.Minute)
		stop()
		if len(s.ended) != 1 || s.ended[0].To != jobqueue.Success || cause != nil {
			t.Errorf("ended: %+v, %v", s.ended, cause)
		}
	})
}

// While long jobs run, the executor beats and looks for
// cancellations, and does nothing else: in a bubble, time passes only while it
// sleeps.
func TestLongJobsKeepNobodyBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{overdue: exchange.Overdue{Next: -1}, jobs: []jobqueue.Job{{JID: "1", Task: "t"}, {JID: "2", Task: "t"}, {JID: "3", Task: "t"}}}
		_, stop := startFake(t, s, executor.Config{}, func(context.Context, *jobqueue.JobContext) error { pass(time.Hour); return nil })
		pass(30 * time.Minute)
		if n := s.count("beat"); n < 940 || n > 950 {
			t.Errorf("%d beats in half an hour, want one each 1.9 s", n)
		}
		if n := s.count("sync"); n > 130 {
			t.Errorf("%d syncs in half an hour, want two each poll", n)
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
		s := &fakeStore{overdue: exchange.Overdue{Next: -1}, jobs: []jobqueue.Job{{JID: "bad", Task: "t"}, {JID: "good", Task: "t"}}}
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
