package executor

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue/executor/internal/outcome"
)

// An attempt that is withdrawn at the moment at which a place gets free ends for the reason of
// the withdrawal: for another one its job would count as failed.
func TestWithdrawnAttemptEndsForThatReason(t *testing.T) {
	t.Parallel()
	a := &attempt{}
	a.ctx, a.cancel = context.WithCancelCause(context.Background())
	if !a.admission.withdraw() { // the loop, which is about to cancel
		t.Fatal("the attempt cannot be withdrawn")
	}
	entered := make(chan bool)
	go func() { entered <- a.enter(make(chan struct{}, 1)) }()
	select {
	case <-entered:
		t.Error("the attempt ended before there was a reason")
	case <-time.After(20 * time.Millisecond):
		a.cancel(outcome.ErrPoolBusy)
		if <-entered {
			t.Error("the attempt begins although it was withdrawn")
		}
	}
	if cause := context.Cause(a.ctx); cause != nil && !errors.Is(cause, outcome.ErrPoolBusy) {
		t.Errorf("the attempt ended since: %v", cause)
	}
}
