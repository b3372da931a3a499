package config

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/internal/service"
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
}

// Route is where the events of a topic go: a webhook or Kafka.
type Route struct {
	Webhook      *webhook.Config
	Kafka        *kafka.Config
	RefusalLimit int `yaml:"refusal_limit" form:"orzero"` // 0: outbox.DefaultRefusals; or outbox.Never
}

// Validate checks RefusalLimit.
func (route *Route) Validate() error {
	p := &service.Check{Config: "config.Route"}
	p.Field(outbox.Never <= route.RefusalLimit && route.RefusalLimit <= 1000, "RefusalLimit", route.RefusalLimit, "1 to 1000, or Never")
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

func (route Route) build(source string) (publisher, time.Duration, error) {
	if route.Webhook != nil {
		cfg := *route.Webhook
		cfg.Source = source
		made, err := webhook.New(cfg)
		return made, cmp.Or(cfg.Timeout, webhook.DefaultTimeout), err
	}
	cfg := *route.Kafka
	cfg.Source = source
	made, err := kafka.New(cfg)
	return made, cmp.Or(cfg.Timeout, kafka.DefaultTimeout), err
}

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

// BuildRelay makes the publishers of the section relay. An attempt of each must end well before the lease.
func (c *Config) BuildRelay() (*Publishers, error) {
	built := &Publishers{Topics: outbox.Topics{}}
	lease := cmp.Or(c.Relay.Lease, relay.DefaultLease)
	for topic, route := range c.Relay.Topics {
		place := "relay.topics." + topic
		made, timeout, err := route.build(c.Relay.Source)
		if err == nil {
			built.add(topic, made, route.RefusalLimit)
		}
		if err == nil && timeout > lease/2 {
			err = fmt.Errorf("timeout is %s; use at most half of relay.lease, which is %s", timeout, lease)
		}
		if err := cmp.Or(c.lacks(place), c.inPlace(place, err)); err != nil {
			built.Close()
			return nil, err
		}
	}
	return built, nil
}

func (p *Publishers) add(topic string, made publisher, refusals int) {
	p.Topics[topic], p.closers = made, append(p.closers, made.Close)
	if refusals != 0 {
		p.Topics[topic] = outbox.DeadAfter(refusals, made)
	}
}
