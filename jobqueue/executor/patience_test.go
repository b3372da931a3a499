package executor

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue/exchange"
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
		a.cancel(errPoolBusy)
		if <-entered {
			t.Error("the attempt begins although it was withdrawn")
		}
	}
	if cause := context.Cause(a.ctx); cause != nil && !errors.Is(cause, errPoolBusy) {
		t.Errorf("the attempt ended since: %v", cause)
	}
}

// silentStore fails at a question, and leaves requests without an answer.
type silentStore struct{ Store }

func (silentStore) CancelRequests(context.Context, string) ([]string, error) {
	return nil, errors.New("who is to be cancelled cannot be asked")
}

func (silentStore) Fault(error) service.Fault { return service.FaultDatabase }

func (silentStore) Sync(ctx context.Context, _ exchange.Request) (exchange.Result, error) {
	<-ctx.Done()
	return exchange.Result{}, ctx.Err()
}

// An answer from before a round that failed does not make the next round a good one, whose own request has no answer.
func TestFailedRoundForgetsOlderAnswers(t *testing.T) {
	t.Parallel()
	log := logrus.New()
	log.SetOutput(io.Discard)
	e, err := New(silentStore{}, Config{Name: "one", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	l := newLoop(t.Context(), e, map[string]handler{"task": {}})
	l.sent, l.answered = true, true // a sync has got its answer, and another one waits for its own
	l.agenda.set(lookForCancels, time.Now())
	l.work(time.Now())
	failed := e.pulse.Health(time.Minute)
	l.agenda.clear(lookForCancels)
	l.agenda.downUntil = time.Now()
	l.work(time.Now())
	if now := e.pulse.Health(time.Minute); failed == nil || now == nil {
		t.Errorf("health after a round that failed is %v, and after one without an answer %v; want errors", failed, now)
	}
}
