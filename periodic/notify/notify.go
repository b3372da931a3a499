package notify

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/web"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// addressesFor is how long addresses that were read are used.
const addressesFor = 30 * time.Second

// maxAddresses is how many addresses get requests.
const maxAddresses = 100

// Notifier sends requests after commits. Make one with [New]. All methods are safe
// for concurrent use.
type Notifier struct {
	cfg    Config
	client *http.Client
	life   *service.Lifecycle
}

// New returns a notifier that has yet to start. It returns an error that names the
// fields that are bad.
func New(cfg Config) (*Notifier, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Notifier{cfg: cfg, client: clientOf(cfg), life: service.New("notifier")}, nil
}

// Observe is a [scheduler.Config].Observe: it causes a request if a scheduler has
// committed a job to the notifier's queue. It never blocks.
func (n *Notifier) Observe(e scheduler.Event) {
	if e.Kind == scheduler.EventTick && e.Tick.Decision == periodic.Submitted && e.Task != nil && e.Task.Sink == n.cfg.Sink {
		n.Notify()
	}
}

// Notify causes a request. Call it after the commit of jobs that no scheduler
// submitted. It never blocks; before Start, the request waits for that.
func (n *Notifier) Notify() { n.life.Wake() }

// Start begins to send requests, and returns at once. It returns an error if the
// notifier was started or stopped before.
func (n *Notifier) Start(ctx context.Context) error { return n.life.Start(ctx, n.run) }

// Stop sends the request that is due, once, and waits for the notifier's goroutines.
// If ctx ends before that, it gives the request up and returns ctx's error. It may be
// called any number of times.
func (n *Notifier) Stop(ctx context.Context) error {
	err := n.life.Stop(ctx)
	n.client.CloseIdleConnections()
	return err
}

// Done is closed when the notifier has ended.
func (n *Notifier) Done() <-chan struct{} { return n.life.Done() }

// run tells the receivers after each commit.
func (n *Notifier) run(soft, hard context.Context) {
	var all sync.WaitGroup
	list, known := addresses{n: n}, map[string]*receiver{}
	defer func() {
		for _, one := range known {
			close(one.commits)
		}
		all.Wait()
	}()
	for ends := false; !ends; {
		select {
		case <-n.life.Woken():
		case <-soft.Done():
			ends = true
			select {
			case <-n.life.Woken(): // before it stopped
			default:
				return
			}
		}
		for _, address := range list.read(hard) {
			one := known[address]
			if one == nil {
				one = &receiver{n: n, address: address, target: web.NewTarget(address, nil), commits: make(chan struct{}, 1)}
				known[address] = one
				all.Go(func() { one.run(hard) })
			}
			one.wake()
		}
	}
}

// addresses are those of the receivers.
type addresses struct {
	n       *Notifier
	last    []string
	at      time.Time // when they were read
	failing bool      // they could not be
}

// read reads the addresses if that is due. If it fails, it returns the last ones.
func (a *addresses) read(ctx context.Context) []string {
	if a.n.cfg.Addresses == nil {
		return []string{a.n.cfg.URL}
	}
	if !a.at.IsZero() && time.Since(a.at) < addressesFor {
		return a.last
	}
	a.at = time.Now()
	ctx, cancel := context.WithTimeout(ctx, a.n.cfg.Timeout)
	defer cancel()
	list, err := a.n.cfg.Addresses(ctx)
	switch {
	case err == nil:
		list = slices.Compact(slices.Sorted(slices.Values(list)))
		if a.last = list[:min(len(list), maxAddresses)]; a.failing {
			a.n.log().Info("the addresses to notify of new jobs can be read again")
		}
	case !a.failing:
		a.n.log().WithError(err).Warn("the addresses to notify of new jobs cannot be read; using the last ones")
	}
	a.failing = err != nil
	return a.last
}
