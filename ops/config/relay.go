package config

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
	"github.com/nextrun/nextrun/ops/kafka"
)

// Relay is the section relay: it says where to publish the events of each topic.
type Relay struct {
	relay.Config
	Source string           // attribute source of the events
	Topics map[string]Route // section topics, by topic; "*": all others
}

func (c *Relay) read(r *reader, place string, n *yaml.Node) {
	r.mapping(n, place, &c.Config, keys{"source": &c.Source, "topics": &c.Topics})
	c.RefusalLimits = map[string]int{}
	for topic, route := range c.Topics {
		c.RefusalLimits[topic] = route.RefusalLimit
	}
}

// Route is where the events of a topic go: a webhook or Kafka.
type Route struct {
	Webhook      *webhook.Config
	Kafka        *kafka.Config
	RefusalLimit int `yaml:"refusal_limit" form:"orzero"` // 0: relay.DefaultRefusalLimit; or jobqueue.Never
}

// Validate checks RefusalLimit.
func (route *Route) Validate() error {
	p := &service.Check{Config: "config.Route"}
	p.Field(jobqueue.Never <= route.RefusalLimit && route.RefusalLimit <= 1000, "RefusalLimit", route.RefusalLimit, "1 to 1000, or Never")
	return p.Err()
}

func (route *Route) read(r *reader, place string, n *yaml.Node) {
	switch r.oneOf(n, place, "webhook", "kafka") {
	case "webhook":
		route.Webhook = &webhook.Config{}
		r.mapping(n, place, route, keys{"webhook": route.Webhook})
	case "kafka":
		route.Kafka = &kafka.Config{}
		r.mapping(n, place, route, keys{"kafka": func(place string, n *yaml.Node) {
			r.mapping(n, place, route.Kafka, keys{"tls": func(place string, n *yaml.Node) {
				if r.boolean(place, n) {
					route.Kafka.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
				}
			}})
		}})
	}
}

// publisher publishes the events of a topic until it is closed.
type publisher interface {
	outbox.Publisher
	Close()
}

// build makes the publisher of a topic. An attempt must end well before the lease.
func (route Route) build(c *Config) (made publisher, err error) {
	var timeout time.Duration
	if route.Webhook != nil {
		cfg := *route.Webhook
		cfg.Source, timeout = c.Relay.Source, cmp.Or(cfg.Timeout, webhook.DefaultTimeout)
		made, err = webhook.New(cfg)
	} else {
		cfg := *route.Kafka
		cfg.Source, timeout = c.Relay.Source, cmp.Or(cfg.Timeout, kafka.DefaultTimeout)
		made, err = kafka.New(cfg)
	}
	if lease := cmp.Or(c.Relay.Lease, relay.DefaultLease); err == nil && timeout > lease/2 {
		made.Close()
		err = fmt.Errorf("timeout is %s; use at most half of relay.lease, which is %s", timeout, lease)
	}
	return made, err
}

// Publishers are the publishers of a relay. Close them after use.
type Publishers struct {
	outbox.Topics
	made []*live[publisher]
}

// Close ends the publishers' connections.
func (p *Publishers) Close() {
	for _, one := range p.made {
		one.value.Close()
	}
}

// BuildRelay makes the publishers of the section relay.
func (c *Config) BuildRelay() (*Publishers, error) {
	built := &Publishers{Topics: outbox.Topics{}}
	for topic := range c.Relay.Topics {
		of := func(c *Config) (r Route, found bool) { r, found = c.Relay.Topics[topic]; return r, found }
		made, err := newLive(c, "relay.topics."+topic, of, func(c *Config, r Route) (publisher, error) { return r.build(c) })
		if err != nil {
			built.Close()
			return nil, err
		}
		built.made = append(built.made, made)
		built.Topics[topic] = outbox.PublisherFunc(func(ctx context.Context, events []outbox.Event) (int, error) { return made.get().Publish(ctx, events) })
	}
	return built, nil
}
