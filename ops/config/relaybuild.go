package config

import (
	"cmp"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
	"github.com/nextrun/nextrun/ops/kafka"
)

// Publishers are the publishers of a relay. Close them after use.
type Publishers struct {
	outbox.Topics
	closers []func()
}

// Close ends the publishers' connections.
func (p *Publishers) Close() {
	for _, end := range p.closers {
		end()
	}
}

// BuildRelay makes the publishers of the section relay. env looks up the
// environment variables with secrets. No error shows a secret.
func (c *Config) BuildRelay(env func(string) string) (*Publishers, error) {
	built := &Publishers{Topics: outbox.Topics{}}
	for topic, route := range c.Relay.Topics {
		if err := built.add(topic, route, c.Relay, env); err != nil {
			built.Close()
			return nil, fmt.Errorf("%s: relay.topics.%s: %w", c.Path, topic, err)
		}
	}
	return built, nil
}

func (p *Publishers) add(topic string, route Route, relay Relay, env func(string) string) error {
	secrets, err := route.secrets.lookUp(env)
	if err != nil {
		return err
	}
	if route.Webhook != nil {
		cfg := *route.Webhook
		cfg.Source, cfg.Secrets = relay.Source, secrets
		if cfg.Headers, err = headers(cfg.Headers, route.secrets.headerEnv, env); err != nil {
			return err
		}
		hook, err := webhook.New(cfg)
		if err != nil {
			return err
		}
		p.publish(topic, route, hook)
		p.closers = append(p.closers, hook.Close)
		return inTime(cfg.Timeout, webhook.DefaultTimeout, relay.Lease)
	}
	cfg := *route.Kafka
	cfg.Source = relay.Source
	if len(secrets) > 0 {
		cfg.Password = secrets[0]
	}
	producer, err := kafka.New(cfg)
	if err != nil {
		return err
	}
	p.publish(topic, route, producer)
	p.closers = append(p.closers, producer.Close)
	return inTime(cfg.Timeout, kafka.DefaultTimeout, relay.Lease)
}

func (p *Publishers) publish(topic string, route Route, to outbox.Publisher) {
	if route.RefusalLimit != 0 {
		to = outbox.DeadAfter(route.RefusalLimit, to)
	}
	p.Topics[topic] = to
}

// inTime checks that an attempt ends well before the lease.
func inTime(timeout, byDefault, lease time.Duration) error {
	timeout, lease = cmp.Or(timeout, byDefault), cmp.Or(lease, relay.DefaultLease)
	if timeout > lease/2 {
		return fmt.Errorf("timeout is %s; use at most half of relay.lease, which is %s", timeout, lease)
	}
	return nil
}
