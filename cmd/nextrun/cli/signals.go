package cli

import (
	"context"
	"os/signal"
	"syscall"
)

// WithSignals returns a context that ends with the first SIGINT or SIGTERM.
// From then on, or once stop is called, these signals do what they do by
// default: a second one ends the process at once.
func WithSignals(parent context.Context) (ctx context.Context, stop context.CancelFunc) {
	ctx, stop = signal.NotifyContext(parent, syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
