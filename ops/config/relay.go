package config

import (
	"crypto/tls"

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
// It names secrets; [Config.BuildRelay] looks them up.
type Route struct {
	Webhook      *webhook.Config
	Kafka        *kafka.Config
	RefusalLimit int `yaml:"refusal_limit" form:"orzero"` // 0: outbox.DefaultRefusals; or outbox.Never

	secrets secrets
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
	r.mapping(n, place, route.Webhook, route.secrets.keys(r), keys{"mode": &route.Webhook.Mode})
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
		"password_env":  func(place string, n *node) { route.secrets.env = []string{r.text(place, n)} },
		"password_file": func(place string, n *node) { route.secrets.file = []string{r.text(place, n)} },
	})
	r.need(n, place, "mechanism", "a ")
	r.need(n, place, "user", "a ")
	if n.has("password_env") == n.has("password_file") {
		r.problem(n, "%s needs one of password_env and password_file", place)
	}
}
