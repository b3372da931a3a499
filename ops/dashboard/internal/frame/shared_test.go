package frame

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// All that ask for the same within a moment get one answer. One that failed is asked for again, and costs the others nothing.
func TestAnswersAreShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s shared
		asked := map[string]int{}
		look := func(key string, err error) {
			if _, got := s.get(key, time.Now(), func() (any, error) { asked[key]++; return nil, err }); !errors.Is(got, err) {
				t.Errorf("%s: %v, want %v", key, got, err)
			}
		}
		wants := func(jobs, tasks int) {
			t.Helper()
			if asked["jobs"] != jobs || asked["tasks"] != tasks {
				t.Errorf("the database was asked %v, want %d and %d", asked, jobs, tasks)
			}
		}
		failed := errors.New("the database is away")
		look("jobs", nil)
		look("tasks", failed)
		look("jobs", nil)
		look("tasks", nil)
		look("tasks", nil)
		wants(1, 2)
		time.Sleep(answerAge) //nolint:forbidigo // the clock is that of synctest
		look("jobs", nil)
		wants(2, 2)
		s.forget()
		look("jobs", nil)
		look("tasks", nil)
		wants(3, 3)
	})
}

// Whoever waits for somebody whose request breaks off gets an error.
func TestAnswersThatBreakOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s shared
		broke, waited := make(chan struct{}), make(chan error, 1)
		go func() {
			defer func() { _ = recover() }()
			_, _ = s.get("jobs", time.Now(), func() (any, error) { <-broke; panic("the page is broken") })
		}()
		synctest.Wait()
		go func() {
			_, err := s.get("jobs", time.Now(), func() (any, error) { return nil, nil })
			waited <- err
		}()
		synctest.Wait()
		close(broke)
		if err := <-waited; !errors.Is(err, errInterrupted) {
			t.Errorf("the error is %v", err)
		}
	})
}
