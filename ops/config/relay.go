package config

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"strings"
	"time"

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

func (c *Relay) read(r *reader, place string, n *node) {
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

func (route *Route) read(r *reader, place string, n *node) {
	if n.has("webhook") == n.has("kafka") {
		r.problem(n, "%s needs one of webhook and kafka", place)
		return
	}
	r.mapping(n, place, route, keys{
		"webhook": func(place string, n *node) { route.webhook(r, place, n) },
		"kafka":   func(place string, n *node) { route.kafka(r, place, n) },
	})
}

func (route *Route) webhook(r *reader, place string, n *node) {
	route.Webhook = &webhook.Config{}
	r.mapping(n, place, route.Webhook, keys{"mode": &route.Webhook.Mode})
	r.need(n, place, "url", "a ")
}

func (route *Route) kafka(r *reader, place string, n *node) {
	secure := false
	route.Kafka = &kafka.Config{}
	r.mapping(n, place, route.Kafka, keys{"tls": &secure, "sasl": func(place string, n *node) { route.sasl(r, place, n) }})
	if secure {
		route.Kafka.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	r.need(n, place, "brokers", "")
}

func (route *Route) sasl(r *reader, place string, n *node) {
	r.mapping(n, place, keys{
		"mechanism": &route.Kafka.Mechanism, "user": &route.Kafka.User,
		"password": func(place string, n *node) {
			var password secretList
			password.read(r, place, n)
			route.Kafka.Password = strings.Join(password, "")
		},
	})
	r.need(n, place, "mechanism", "a ")
	r.need(n, place, "user", "a ")
	r.need(n, place, "password", "a ")
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

// BuildRelay makes the publishers of the section relay.
func (c *Config) BuildRelay() (*Publishers, error) {
	built := &Publishers{Topics: outbox.Topics{}}
	for topic, route := range c.Relay.Topics {
		place := "relay.topics." + topic
		if err := cmp.Or(c.lacks(place), c.inPlace(place, built.add(topic, route, c.Relay))); err != nil {
			built.Close()
			return nil, err
		}
	}
	return built, nil
}

func (p *Publishers) add(topic string, route Route, relay Relay) error {
	if route.Webhook != nil {
		cfg := *route.Webhook
		cfg.Source = relay.Source
		hook, err := webhook.New(cfg)
		if err != nil {
			return err
		}
		p.publish(topic, route, hook, hook.Close)
		return inTime(cfg.Timeout, webhook.DefaultTimeout, relay.Lease)
	}
	cfg := *route.Kafka
	cfg.Source = relay.Source
	producer, err := kafka.New(cfg)
	if err != nil {
		return err
	}
	p.publish(topic, route, producer, producer.Close)
	return inTime(cfg.Timeout, kafka.DefaultTimeout, relay.Lease)
}

func (p *Publishers) publish(topic string, route Route, to outbox.Publisher, end func()) {
	if route.RefusalLimit != 0 {
		to = outbox.DeadAfter(route.RefusalLimit, to)
	}
	p.Topics[topic], p.closers = to, append(p.closers, end)
}

// inTime checks that an attempt ends well before the lease.
func inTime(timeout, byDefault, lease time.Duration) error {
	timeout, lease = cmp.Or(timeout, byDefault), cmp.Or(lease, relay.DefaultLease)
	if timeout > lease/2 {
		return fmt.Errorf("timeout is %s; use at most half of relay.lease, which is %s", timeout, lease)
	}
	return nil
}
