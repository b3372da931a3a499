package config

import (
	"crypto/tls"

	"go.yaml.in/yaml/v3"

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

// Route is where the events of a topic go: a webhook or Kafka.
// It names secrets; [Config.BuildRelay] looks them up.
type Route struct {
	Webhook      *webhook.Config
	Kafka        *kafka.Config
	RefusalLimit int // 0: outbox.DefaultRefusals; or outbox.Never

	secrets   []secret          // webhook: keys of the signature; kafka: the password
	headerEnv map[string]string // webhook: environment variables with the values of headers
}

// secret says where a secret is: in an environment variable or in a file.
type secret struct{ env, file string }

// relayReader reads the section relay.
type relayReader struct{ *reader }

func (r relayReader) relay(place string, n *yaml.Node, c *Relay) {
	r.mapping(n, place, keys{
		"source":        &c.Source,
		"concurrency":   &c.Concurrency,
		"batch_size":    &c.BatchSize,
		"batch_bytes":   (*byteSize)(&c.BatchBytes),
		"lease":         &c.Lease,
		"poll_interval": &c.PollInterval,
		"retry_min":     &c.RetryMin,
		"retry_max":     &c.RetryMax,
		"topics":        named(r.reader, &c.Topics, r.route),
	})
	r.check(n, place, &c.Config)
}

func (r relayReader) route(place string, n *yaml.Node) Route {
	var route Route
	if has(n, "webhook") == has(n, "kafka") {
		r.problem(n, "%s needs one of webhook and kafka", place)
		return route
	}
	r.mapping(n, place, keys{
		"webhook":       func(place string, v *yaml.Node) { r.webhook(place, v, &route) },
		"kafka":         func(place string, v *yaml.Node) { r.kafka(place, v, &route) },
		"refusal_limit": orZero(r.reader, &route.RefusalLimit, outbox.Never),
	})
	if route.RefusalLimit < outbox.Never || route.RefusalLimit > 1000 {
		r.problem(n, "%s.refusal_limit must be 0 (no limit) to 1000", place)
	}
	return route
}

func (r relayReader) webhook(place string, n *yaml.Node, route *Route) {
	c := &webhook.Config{}
	route.Webhook = c
	r.mapping(n, place, keys{
		"url":         &c.URL,
		"mode":        (*string)(&c.Mode),
		"timeout":     &c.Timeout,
		"headers":     &c.Headers,
		"header_env":  &route.headerEnv,
		"secret_env":  r.secretsInto(&route.secrets, func(s string) secret { return secret{env: s} }),
		"secret_file": r.secretsInto(&route.secrets, func(s string) secret { return secret{file: s} }),
	})
	r.need(n, place, "url", "a ")
	r.check(n, place, c)
}

func (r relayReader) kafka(place string, n *yaml.Node, route *Route) {
	c := &kafka.Config{}
	route.Kafka = c
	secure := false
	r.mapping(n, place, keys{
		"brokers":       &c.Brokers,
		"topic":         &c.Topic,
		"structured":    &c.Structured,
		"timeout":       &c.Timeout,
		"max_bytes":     &c.MaxBytes,
		"create_topics": &c.CreateTopics,
		"tls":           &secure,
		"sasl":          func(place string, v *yaml.Node) { r.sasl(place, v, route) },
	})
	if secure {
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	r.need(n, place, "brokers", "")
	r.check(n, place, c)
}

func (r relayReader) sasl(place string, n *yaml.Node, route *Route) {
	c := route.Kafka
	var password secret
	r.mapping(n, place, keys{
		"mechanism":     (*string)(&c.Mechanism),
		"user":          &c.User,
		"password_env":  &password.env,
		"password_file": &password.file,
	})
	route.secrets = []secret{password}
	r.need(n, place, "mechanism", "a ")
	r.need(n, place, "user", "a ")
	if has(n, "password_env") == has(n, "password_file") {
		r.problem(n, "%s needs one of password_env and password_file", place)
	}
}
