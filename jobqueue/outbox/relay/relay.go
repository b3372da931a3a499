package relay

import (
	"context"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// ErrStarted is wrapped by the error of Start if the [Relay] was
// started or stopped before. Make a new one.
var ErrStarted = service.ErrStarted

// Relay hands the events of topics over to an [outbox.Publisher], or to an [outbox.Consumer]. It is safe for
// concurrent use.
type Relay struct {
	source    Source
	publisher outbox.Publisher
	consume   outbox.Consumer // nil: there is a publisher
	cfg       Config
	holder    string // tells processes of the same name apart
	life      *service.Lifecycle
	pulse     service.Pulse
}

// New returns a relay that takes messages from source, which is what
// store.DB.Outbox returns, to publisher. If the configuration is not valid, it
// returns an error that names each field. It does not touch the database.
func New(source Source, publisher outbox.Publisher, cfg Config) (*Relay, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Relay{
		source: source, publisher: publisher, cfg: cfg,
		holder: service.WorkerID(cfg.Name), life: service.New("relay"),
	}, nil
}

// NewConsumer returns a relay that has a function of this program consume the events of Config.Topics, each in the
// transaction that marks it as published.
func NewConsumer(source Source, consume outbox.Consumer, cfg Config) (*Relay, error) {
	r, err := New(source, nil, cfg)
	if err == nil {
		r.consume = consume
	}
	return r, err
}

// Start begins to publish and returns at once. While the database cannot be
// reached, the relay keeps trying. It ends by Stop, or as if by Stop when ctx
// ends. A second Start returns an error that wraps [ErrStarted].
func (r *Relay) Start(ctx context.Context) error {
	watch := func(soft context.Context) {
		r.source.Watch(soft, r.holder, r.Wake, func(err error) { r.fail("watch for events", err) })
	}
	return r.life.Start(ctx, r.loop, watch)
}

// Stop records the batches in flight, gives the leases back and waits for the
// goroutines. If ctx ends before that, Stop gives those batches up and returns
// ctx's error. Their leases expire, and they are published again. Stop may be
// called several times, and before Start.
func (r *Relay) Stop(ctx context.Context) error { return r.life.Stop(ctx) }

// Done is closed when the relay has ended.
func (r *Relay) Done() <-chan struct{} { return r.life.Done() }

// Health says what is wrong with a relay that was started: that it has not been in touch
// with the database yet, that this has failed for more than ten seconds, or that it is
// stuck. Events that a receiver refuses do not count. Health does not ask the database.
func (r *Relay) Health(context.Context) error {
	return r.pulse.Health()
}

// Wake makes the relay query the database now. It never blocks.
func (r *Relay) Wake() { r.life.Wake() }
