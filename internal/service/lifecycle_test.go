package service_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/nextrun/nextrun/internal/service"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// untilSoft is a main that ends when it is asked to.
func untilSoft(soft, _ context.Context) { <-soft.Done() }

func TestStartsOnce(t *testing.T) {
	l := service.New("relay")
	if err := l.Start(t.Context(), untilSoft); err != nil || !l.Started() {
		t.Fatal(err)
	}
	err := l.Start(t.Context(), func(context.Context, context.Context) { t.Error("ran twice") })
	if !errors.Is(err, service.ErrStarted) || err.Error() != "start the relay: "+service.ErrStarted.Error() {
		t.Errorf("the second start: %v", err)
	}
	for range 2 {
		if err := l.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := l.Start(t.Context(), untilSoft); !errors.Is(err, service.ErrStarted) {
		t.Errorf("start after stop: %v", err)
	}
}

// Stop gives the work in flight the time of its context, and no more.
func TestStopsSoftlyThenHard(t *testing.T) {
	for name, test := range map[string]struct {
		work, took time.Duration
		want       error
	}{
		"in time":  {3 * time.Second, 3 * time.Second, nil},
		"too long": {time.Hour, 5 * time.Second, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := service.New("relay")
				err := l.Start(t.Context(), func(soft, hard context.Context) {
					<-soft.Done()
					select {
					case <-time.After(test.work):
					case <-hard.Done():
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				if err := l.Stop(ctx); !errors.Is(err, test.want) || time.Since(begun) != test.took {
					t.Errorf("Stop returned %v after %s, want %v after %s", err, time.Since(begun), test.want, test.took)
				}
				if err := l.Stop(ctx); err != nil {
					t.Errorf("a second Stop: %v", err)
				}
			})
		})
	}
}

// When main ends by itself, the helpers end, and only then is the service done.
func TestHelpersEndBeforeTheServiceIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := service.New("relay")
		var ended atomic.Int32
		helper := func(soft context.Context) {
			<-soft.Done()
			time.Sleep(time.Second) //nolint:forbidigo // in a bubble of synctest it takes no time
			ended.Add(1)
		}
		if err := l.Start(t.Context(), func(context.Context, context.Context) {}, []func(context.Context){helper, helper}...); err != nil {
			t.Fatal(err)
		}
		<-l.Done()
		if n := ended.Load(); n != 2 {
			t.Errorf("%d of 2 helpers had ended", n)
		}
		if err := l.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestStress starts, stops and wakes services from many goroutines at once.
// Whatever the order, main runs once for each Start that succeeds, and when any
// Stop has returned nothing runs any more.
func TestStress(t *testing.T) {
	for range 500 {
		l := service.New("service")
		var running, starts, runs atomic.Int32
		main := func(soft, hard context.Context) {
			running.Add(1)
			defer running.Add(-1)
			runs.Add(1)
			select {
			case <-[]<-chan struct{}{soft.Done(), hard.Done()}[rand.N(2)]:
			case <-l.Woken():
			}
		}
		helper := func(soft context.Context) {
			running.Add(1)
			defer running.Add(-1)
			<-soft.Done()
		}
		start := func() {
			if err := l.Start(t.Context(), main, helper); err == nil {
				starts.Add(1)
			}
		}
		stop := func() {
			ctx, cancel := context.WithTimeout(t.Context(), rand.N(time.Millisecond))
			defer cancel()
			if err := l.Stop(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			if n := running.Load(); n != 0 {
				t.Errorf("%d goroutines run after Stop", n)
			}
			<-l.Done()
		}
		var callers sync.WaitGroup
		for range 8 {
			callers.Go([]func(){start, start, stop, stop, l.Wake}[rand.N(5)])
		}
		callers.Wait()
		stop()
		if starts.Load() > 1 || runs.Load() != starts.Load() {
			t.Fatalf("main ran %d times, of %d starts", runs.Load(), starts.Load())
		}
	}
}
