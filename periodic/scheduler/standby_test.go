package scheduler

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// Who has lost the lock while jobs of another queue were open asks about them no more, and waits quietly.
func TestNobodyAsksAboutEndsWhileStandingBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		e := newEnds(nil, &Config{Submitters: periodic.Submitters{"other": nil}}, shared{})
		a, times := e.askers["other"], atomic.Int64{}
		a.within(time.Second)
		a.run(ctx, func() bool { times.Add(1); return false })
		if n := times.Load(); n != 1 {
			t.Errorf("it was ready to ask %d times in an hour, want once", n)
		}
	})
}
