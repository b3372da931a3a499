package notify

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/service"
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
	cfg.Header = cfg.Header.Clone()
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

// run passes wake-ups on to the receivers, one for each address.
func (n *Notifier) run(soft, hard context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	r := receivers{n: n, begin: func(one *receiver) { all.Go(func() { one.run(soft, hard) }) }}
	for {
		select {
		case <-n.life.Woken():
			r.wake(hard)
		case <-soft.Done():
			select {
			case <-n.life.Woken(): // before it stopped
				r.wake(hard)
			default:
			}
			r.end()
			return
		}
	}
}

// receivers are those that have to be told, by address. They belong to the goroutine
// of run.
type receivers struct {
	n       *Notifier
	begin   func(*receiver)
	list    map[string]*receiver
	read    time.Time // when the addresses were read
	failing bool      // they could not be
}

// wake makes every receiver send a request.
func (r *receivers) wake(ctx context.Context) {
	r.refresh(ctx)
	for _, one := range r.list {
		one.wake()
	}
}

// end lets the receivers finish. Those that have work do it first.
func (r *receivers) end() {
	for _, one := range r.list {
		close(one.last)
	}
}

// refresh reads the addresses if that is due.
func (r *receivers) refresh(ctx context.Context) {
	addresses := []string{r.n.cfg.URL}
	if read := r.n.cfg.Addresses; read != nil {
		if !r.read.IsZero() && time.Since(r.read) < addressesFor {
			return
		}
		r.read = time.Now()
		ctx, cancel := context.WithTimeout(ctx, r.n.cfg.Timeout)
		defer cancel()
		var err error
		if addresses, err = read(ctx); err != nil {
			if !r.failing {
				r.n.log().WithError(err).Warn("the addresses to notify of new jobs cannot be read; using the last ones")
			}
			r.failing = true
			return
		}
		if r.failing {
			r.n.log().Info("the addresses to notify of new jobs can be read again")
		}
		r.failing = false
	}
	r.set(addresses[:min(len(addresses), maxAddresses)])
}

// set adds receivers for new addresses and ends those of old ones.
func (r *receivers) set(addresses []string) {
	before := r.list
	r.list = make(map[string]*receiver, len(addresses))
	for _, address := range addresses {
		one := before[address]
		delete(before, address)
		if one == nil && r.list[address] == nil {
			one = newReceiver(r.n, address)
			r.begin(one)
		}
		if one != nil {
			r.list[address] = one
		}
	}
	for _, gone := range before {
		close(gone.last)
	}
}
