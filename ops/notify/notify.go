// Package notify tells who runs the jobs of the queue job, by an HTTP request, that there are new
// ones. It is for consumers that would otherwise find them only when they poll next.
//
//	n, err := notify.New(notify.Config{URL: "https://worker.example.org/wake"})
//	scheduler, err := scheduler.New(store, scheduler.Config{Name: "app", Observe: n.Observe})
//	err = n.Start(ctx)         // before the scheduler
//	err = scheduler.Start(ctx) // ...
//	err = n.Stop(ctx)          // after the scheduler
//
// A request follows the commit: whoever receives it finds the jobs. It carries no
// jobs, and requests are coalesced: while one is in flight, all further commits together cause one more. A notifier
// never delays the scheduler.
//
// # Answers
//
// 2xx accepts. Nothing is retried, and no redirect is followed: the next commit causes the next request, and
// consumers look for jobs themselves now and then. The first failure is logged, and the next success. No log
// line shows the query of a URL or a password in it.
package notify

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/web"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

const (
	addressesFor = 30 * time.Second // how long addresses that were read are used
	maxAddresses = 100              // how many of them get requests
	timeout      = 5 * time.Second  // of a request with its answer
)

// Config is the settings of a [Notifier]. URL or Addresses is required. It holds
// secrets: do not log it.
type Config struct {
	// URL, absolute, http or https, gets a POST.
	URL string
	// Addresses, if not nil, returns URLs to use instead of URL, at most 100: each
	// of them gets the request, independently of the others. It is called at a
	// commit, at most every 30 s, and may fail: then the last URLs are used.
	Addresses func(ctx context.Context) ([]string, error)
	// Transport makes the connections. nil: a copy of http.DefaultTransport that drops those that fall silent.
	Transport http.RoundTripper
	// Logger takes the log lines. nil: slog.Default().
	Logger *slog.Logger
}

// Notifier sends requests after commits. Make one with [New]. All methods are safe
// for concurrent use; nil tells nobody.
type Notifier struct {
	cfg    Config
	client *http.Client
	life   *service.Lifecycle

	// Owned by the goroutine.
	receivers map[string]*receiver // by their addresses
	addresses []string             // as last read
	read      time.Time            // when they were read
}

// New returns a notifier that has yet to start. It returns an error, which does not show the URL, if that is not usable.
func New(cfg Config) (*Notifier, error) {
	p := &service.Check{Config: "notify.Config"}
	p.Field(cfg.Addresses != nil || web.GoodURL(cfg.URL), "URL", "not usable", "a URL such as https://example.org/wake")
	if err := p.Err(); err != nil {
		return nil, err
	}
	service.SetDefault(&cfg.Logger, slog.Default())
	if cfg.Transport == nil {
		cfg.Transport = web.NewTransport()
	}
	client := &http.Client{Transport: cfg.Transport, Timeout: timeout, CheckRedirect: web.NoRedirects}
	return &Notifier{cfg: cfg, client: client, life: service.New("notifier"), receivers: map[string]*receiver{}}, nil
}

// Observe is a [scheduler.Config].Observe: it causes a request if a scheduler has
// committed a job to the queue job. It never blocks.
func (n *Notifier) Observe(e scheduler.Event) {
	if e.Kind == scheduler.EventTick && e.Tick.Decision == periodic.Submitted && e.Task != nil {
		n.Submitted(e.Task.Sink)
	}
}

// Submitted causes a request if it was the queue job to which somebody has committed jobs. It never blocks; before
// Start, the request waits for that.
func (n *Notifier) Submitted(sink periodic.Sink) {
	if n != nil && sink == periodic.SinkJob {
		n.life.Wake()
	}
}

// While runs fn with the notifier started, and then waits for its requests. A
// request that fails is logged; it is no failure of fn, whose jobs are committed.
func (n *Notifier) While(ctx context.Context, fn func() error) error {
	if n == nil {
		return fn()
	}
	if err := n.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	err := fn()
	_ = n.Stop(context.WithoutCancel(ctx)) // requests have a timeout of their own
	return err
}

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
	for soft.Err() == nil {
		select {
		case <-n.life.Woken():
			n.tell(hard, &all)
		case <-soft.Done():
		}
	}
	select {
	case <-n.life.Woken(): // before it stopped
		n.tell(hard, &all)
	default:
	}
	for _, r := range n.receivers {
		close(r.commits)
	}
	all.Wait()
}

// tell has a request go to each address. One that is in flight there is followed by one more.
func (n *Notifier) tell(ctx context.Context, all *sync.WaitGroup) {
	for _, address := range n.current(ctx) {
		r := n.receivers[address]
		if r == nil {
			r = newReceiver(n, address)
			n.receivers[address] = r
			all.Go(func() { r.run(ctx) })
		}
		select {
		case r.commits <- struct{}{}:
		default:
		}
	}
}

// current returns the addresses, and reads them if that is due. If they cannot be read, the last ones serve.
func (n *Notifier) current(ctx context.Context) []string {
	if n.cfg.Addresses == nil {
		return []string{n.cfg.URL}
	}
	if !n.read.IsZero() && time.Since(n.read) < addressesFor {
		return n.addresses
	}
	n.read = time.Now()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	list, err := n.cfg.Addresses(ctx)
	if err != nil {
		n.cfg.Logger.Warn("the addresses to notify of new jobs cannot be read; using the last ones", "error", err)
		return n.addresses
	}
	list = slices.Compact(slices.Sorted(slices.Values(list)))
	n.addresses = list[:min(len(list), maxAddresses)]
	return n.addresses
}
