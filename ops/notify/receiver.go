package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/nextrun/nextrun/internal/web"
)

// maxAnswer is how much of an answer is read, so that the connection can serve again.
const maxAnswer = 64 << 10

// receiver sends requests to one address, one after the other.
type receiver struct {
	n       *Notifier
	log     *slog.Logger
	address string
	target  web.Target
	commits chan struct{} // of capacity one: those that the next request tells of
}

func newReceiver(n *Notifier, address string) *receiver {
	target := web.NewTarget(address, nil)
	return &receiver{n, n.cfg.Logger.With("url", target.Path), address, target, make(chan struct{}, 1)}
}

// run sends requests until no commit is to follow. It logs when they begin to fail, and when they work again.
func (r *receiver) run(ctx context.Context) {
	down := false
	for range r.commits {
		err := r.send(ctx)
		switch {
		case err == nil && down:
			r.log.Info("notifying of new jobs works again")
		case err != nil && ctx.Err() != nil:
			return // it was given up
		case err != nil && !down:
			r.log.Warn("cannot notify of new jobs; they wait until their consumer looks for them. Check that the receiver runs at that URL", "error", err)
		}
		down = err != nil
	}
}

// send makes one request.
func (r *receiver) send(ctx context.Context) error {
	if !web.GoodURL(r.address) {
		return errors.New("the address is not an http or https URL")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.address, http.NoBody)
	if err != nil {
		return errors.New("the request cannot be made") // err would show the URL
	}
	request.Header.Set("User-Agent", "nextrun")
	answer, err := web.Do(r.n.client, request)
	if err != nil {
		return r.target.Failure(err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer)) // only the status matters
	_ = answer.Body.Close()
	status := answer.StatusCode
	if status/100 == 2 {
		return nil
	}
	hint := ""
	if status/100 == 3 {
		hint = " (redirects are not followed)"
	}
	return fmt.Errorf("it answered %s%s", r.target.Secrets.Clean(answer.Status), hint)
}
