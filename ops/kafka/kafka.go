package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/cloudevents"
)

// Publisher produces events to Kafka. It implements [outbox.Publisher] and is
// safe for concurrent use. Close it after use.
type Publisher struct {
	cfg     Config
	options []kgo.Opt
	dialed  connections

	mu     sync.Mutex
	client *kgo.Client // nil: none yet, or given up
}

// New returns a publisher. It returns an error that names the field if the
// configuration is not valid; it does not connect.
func New(cfg Config) (*Publisher, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := cloudevents.CheckSource(cfg.Source); err != nil {
		return nil, fmt.Errorf("kafka.Config.Source: %w", err)
	}
	cfg = cfg.withDefaults()
	p := &Publisher{cfg: cfg}
	p.options = append(cfg.options(), kgo.WithHooks(&p.dialed))
	if err := kgo.ValidateOpts(p.options...); err != nil {
		return nil, fmt.Errorf("configure the Kafka client: %w", err)
	}
	return p, nil
}

// Close ends the connections.
func (p *Publisher) Close() {
	p.mu.Lock()
	client := p.client
	p.mu.Unlock()
	if client != nil {
		p.giveUp(client)
	}
}

// Publish implements [outbox.Publisher]. Batches may be acknowledged in part:
// what comes behind the first event that is not is produced again.
func (p *Publisher) Publish(ctx context.Context, events []outbox.Event) (int, error) {
	records := make([]*kgo.Record, 0, len(events))
	for _, e := range events {
		records = append(records, p.cfg.record(ctx, e))
	}
	return p.produce(ctx, records)
}

// produce returns how many of the first records were acknowledged, and why the
// next was not. Records that do not fit into one batch wait for those before them,
// which may be refused.
func (p *Publisher) produce(ctx context.Context, records []*kgo.Record) (int, error) {
	done, alone := 0, false
	for done < len(records) {
		if ctx.Err() != nil {
			return done, outbox.ErrNotTried
		}
		n := 1
		if !alone {
			n = p.cfg.fitting(records[done:])
		}
		accepted, err := p.produceTogether(ctx, records[done:done+n])
		done += accepted
		switch {
		case err == nil:
		case n > 1 && isTooLarge(err):
			alone = true // the batch was too large; the events may not be
		default:
			return done, p.verdict(err)
		}
	}
	return done, nil
}

// produceTogether returns how many of the first records were acknowledged, and
// why the next was not.
func (p *Publisher) produceTogether(ctx context.Context, records []*kgo.Record) (int, error) {
	client, err := p.connect()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { p.giveUp(client) })
	for _, r := range records {
		r.Context = ctx // a record keeps that of the last attempt
	}
	results := client.ProduceSync(ctx, records...)
	stop()
	failed := make(map[*kgo.Record]error, len(results)) // results come as they are acknowledged
	for _, r := range results {
		failed[r.Record] = r.Err
	}
	for i, r := range records {
		if err := failed[r]; err != nil {
			return i, err
		}
	}
	return len(records), nil
}

// connect returns the client; franz-go connects when it has something to send.
func (p *Publisher) connect() (*kgo.Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client == nil {
		client, err := kgo.NewClient(p.options...)
		if err != nil {
			return nil, fmt.Errorf("make a Kafka client: %w", err)
		}
		p.client = client
	}
	return p.client, nil
}

// giveUp closes a client and drops what it has not sent: nothing of it may be sent
// after another relay has begun to publish.
func (p *Publisher) giveUp(client *kgo.Client) {
	p.mu.Lock()
	if p.client == client {
		p.client = nil
	}
	p.mu.Unlock()
	client.Close()
}

// isTooLarge reports whether the brokers found a batch too large.
func isTooLarge(err error) bool {
	return errors.Is(err, kerr.MessageTooLarge) || errors.Is(err, kerr.RecordListTooLarge)
}

// refusals are the errors that say that the event itself is not wanted.
var refusals = []error{
	kerr.MessageTooLarge, kerr.RecordListTooLarge, kerr.InvalidRecord, kerr.InvalidTopicException, kerr.InvalidTimestamp,
}

// verdict is what an error of producing means.
func (p *Publisher) verdict(err error) error {
	for _, r := range refusals {
		if errors.Is(err, r) {
			return jobqueue.Permanent(fmt.Errorf("kafka refuses the event: %w", err))
		}
	}
	late := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, kgo.ErrClientClosed) || errors.Is(err, kgo.ErrRecordTimeout)
	if cause := p.dialed.problem(); late && cause != nil {
		return fmt.Errorf("kafka did not acknowledge the event in time: %w", cause)
	}
	if late {
		return fmt.Errorf("kafka did not acknowledge the event within %s", p.cfg.Timeout)
	}
	return fmt.Errorf("produce to kafka: %w", err)
}

// connections remembers why the last connection could not be made.
type connections struct{ last atomic.Pointer[error] }

// OnBrokerConnect implements [kgo.HookBrokerConnect].
func (c *connections) OnBrokerConnect(_ kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	switch {
	case err == nil:
		c.last.Store(nil)
	case !errors.Is(err, kgo.ErrClientClosed): // an attempt that is given up says nothing of the broker
		c.last.Store(&err)
	}
}

func (c *connections) problem() error {
	if err := c.last.Load(); err != nil {
		return *err
	}
	return nil
}
