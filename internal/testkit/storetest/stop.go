package storetest

import (
	"context"
	"testing"
)

// Stop calls the Stop of a service in the background and returns when the service has been told
// to begin nothing new. What Stop returns arrives on the channel.
func Stop(t testing.TB, stop func(context.Context) error) <-chan error {
	t.Helper()
	ctx := waitedFor{context.Background(), make(chan struct{}, 1)}
	stopped := make(chan error, 1)
	go func() { stopped <- stop(ctx) }()
	select {
	case <-ctx.waits:
	case err := <-stopped: // there was nothing to wait for
		stopped <- err
	case <-t.Context().Done():
	}
	return stopped
}

// waitedFor is a context that says when somebody waits for its end, as a Stop does after it has
// told the service.
type waitedFor struct {
	context.Context
	waits chan struct{}
}

func (w waitedFor) Done() <-chan struct{} {
	select {
	case w.waits <- struct{}{}:
	default:
	}
	return w.Context.Done()
}
