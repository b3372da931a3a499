package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/web"
)

// maxAnswer is how much of an answer is read, so that the connection can serve again.
const maxAnswer = 64 << 10

func clientOf(cfg Config) *http.Client {
	transport := cfg.Transport
	if transport == nil {
		transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	return &http.Client{Transport: transport, Timeout: cfg.Timeout, CheckRedirect: web.NoRedirects}
}

func (n *Notifier) log() logrus.FieldLogger { return n.cfg.Logger.WithField("sink", n.cfg.Sink) }

// receiver sends requests to one address, one after the other.
type receiver struct {
	n       *Notifier
	address string
	target  web.Target
	down    bool // it was logged that requests fail

	mu          sync.Mutex
	busy, again bool // a request is in flight, and another one is to follow
}

// wake reports whether to run. If a request is in flight, one follows that, however often it is called.
func (r *receiver) wake() (begin bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.again, begin = r.busy, !r.busy
	r.busy = true
	return begin
}

// told reports whether another request is to follow: there was a commit since the one before.
func (r *receiver) told() (more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy, r.again = r.again, false
	return r.busy
}

// run sends requests until none is to follow.
func (r *receiver) run(soft, hard context.Context) {
	for more := true; more; more = r.told() {
		r.deliver(soft, hard)
	}
}

// deliver sends a request, and once more after a failure that may pass, unless soft has ended.
func (r *receiver) deliver(soft, hard context.Context) {
	passing, after, err := r.send(hard)
	if passing && rest(soft, min(max(after, retryAfter), mostAfter)) {
		r.mu.Lock()
		r.again = false // this request tells of those commits, too
		r.mu.Unlock()
		_, _, err = r.send(hard)
	}
	switch {
	case err == nil && r.down:
		r.log().Info("notifying of new jobs works again")
	case err != nil && hard.Err() != nil:
		return // it was given up
	case err != nil && !r.down:
		r.log().WithError(err).Warn("cannot notify of new jobs; they wait until their consumer looks for them. Check that the receiver runs at that URL")
	}
	r.down = err != nil
}

const (
	// retryAfter is how long after a request that failed it is sent again, mostAfter how long if the receiver asks for that.
	retryAfter = time.Second
	mostAfter  = time.Minute
)

// rest waits. It returns false if soft ends before.
func rest(soft context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return soft.Err() == nil
	case <-soft.Done():
		return false
	}
}

// send makes one request. It reports whether an error may pass, and how long the
// receiver wants to be left alone.
func (r *receiver) send(ctx context.Context) (passing bool, after time.Duration, err error) {
	if !web.GoodURL(r.address) {
		return false, 0, errors.New("the address is not an http or https URL")
	}
	request, err := http.NewRequestWithContext(ctx, r.n.cfg.Method, r.address, http.NoBody)
	if err != nil {
		return false, 0, errors.New("the request cannot be made") // err would show the URL
	}
	request.Header.Set("User-Agent", "nextrun")
	for name, values := range r.n.cfg.Header {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	if host := request.Header.Get("Host"); host != "" {
		request.Host = host
	}
	answer, err := r.n.client.Do(request)
	if err != nil {
		return true, 0, r.target.Failure(err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer)) // only the status matters
	_ = answer.Body.Close()
	status := answer.StatusCode
	if status/100 == 2 {
		return false, 0, nil
	}
	hint := ""
	if status/100 == 3 {
		hint = " (redirects are not followed)"
	}
	err = fmt.Errorf("it answered %s%s", r.target.Secrets.Clean(answer.Status), hint)
	return web.MayPass(status), web.RetryAfter(answer.Header.Get("Retry-After"), time.Now()), err
}

func (r *receiver) log() logrus.FieldLogger { return r.n.log().WithField("url", r.target.Path) }
