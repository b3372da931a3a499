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
