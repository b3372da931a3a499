package config

import (
	"crypto/tls"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/cmd/nextrun/kafka"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
)

// Relay is the section relay: where the events of topics are published.
type Relay struct {
	outbox.Config
	Source string           // attribute source of the events
	Topics map[string]Route // section topics, by topic; "*": all others
}

// Route is where the events of a topic go: a webhook, Kafka, or nowhere (Table).
// It names secrets; [Config.BuildRelay] looks them up.
type Route struct {
	Webhook *webhook.Config
	Kafka   *kafka.Config
	Table   bool

	secrets   []secret          // webhook: keys of the signature; kafka: the password
	headerEnv map[string]string // webhook: variables that hold the values of headers
}

// secret says where a secret is: in a variable or in a file.
type secret struct{ env, file string }

func (r *reader) relay(place string, n *yaml.Node, c *Relay) {
	r.mapping(n, place, keys{
		"source":          func(place string, v *yaml.Node) { c.Source = r.text(place, v) },
		"concurrency":     r.numberInto(&c.Concurrency, 1, outbox.MaxConcurrency),
		"batch_size":      r.numberInto(&c.BatchSize, 1, outbox.MaxBatchSize),
		"batch_bytes":     func(place string, v *yaml.Node) { c.BatchBytes = r.size(place, v) },
		"lease":           r.durationInto(&c.Lease, outbox.MinLease, longest),
		"poll_interval":   r.durationInto(&c.PollInterval, outbox.MinPollInterval, longest),
		"retry_min":       r.durationInto(&c.RetryMin, outbox.MinRetry, longest),
		"retry_max":       r.durationInto(&c.RetryMax, outbox.MinRetry, longest),
		"refusal_limit":   r.numberInto(&c.RefusalLimit, 1, 1000),
		"retention":       r.durationInto(&c.Retention, time.Second, 100*longest),
		"event_retention": r.durationInto(&c.EventRetention, time.Second, 100*longest),
		"topics": func(place string, v *yaml.Node) {
			c.Topics = map[string]Route{}
			r.pairs(v, place, func(key, value *yaml.Node) { c.Topics[key.Value] = r.route(join(place, key.Value), value) })
		},
	})
}

func (r *reader) route(place string, n *yaml.Node) Route {
	var route Route
	kinds := slices.DeleteFunc([]string{"webhook", "kafka", "table"}, func(kind string) bool { return !has(n, kind) })
	if len(kinds) != 1 {
		r.problem(n, "%s needs one of webhook, kafka and table", place)
		return route
	}
	r.mapping(n, place, keys{
		"webhook": func(place string, v *yaml.Node) { r.webhook(place, v, &route) },
		"kafka":   func(place string, v *yaml.Node) { r.kafka(place, v, &route) },
		"table": func(place string, v *yaml.Node) {
			if route.Table = r.boolean(place, v); !route.Table {
				r.problem(v, "%s must be true, or absent", place)
			}
		},
	})
	return route
}

func (r *reader) webhook(place string, n *yaml.Node, route *Route) {
	c := &webhook.Config{}
	route.Webhook = c
	r.mapping(n, place, keys{
		"url":        func(place string, v *yaml.Node) { c.URL = r.url(place, v) },
		"mode":       func(place string, v *yaml.Node) { c.Mode = webhook.Mode(r.text(place, v)) },
		"timeout":    r.durationInto(&c.Timeout, webhook.MinTimeout, webhook.MaxTimeout),
		"headers":    func(place string, v *yaml.Node) { c.Headers = r.namedTexts(place, v) },
		"header_env": func(place string, v *yaml.Node) { route.headerEnv = r.namedTexts(place, v) },
		"secret_env": func(place string, v *yaml.Node) {
			r.secrets(place, v, route, func(s string) secret { return secret{env: s} })
		},
		"secret_file": func(place string, v *yaml.Node) {
			r.secrets(place, v, route, func(s string) secret { return secret{file: s} })
		},
	})
	if !has(n, "url") {
		r.problem(n, "%s needs a url", place)
	}
}

func (r *reader) kafka(place string, n *yaml.Node, route *Route) {
	c := &kafka.Config{}
	route.Kafka = c
	maxBytes := 0
	r.mapping(n, place, keys{
		"brokers":       func(place string, v *yaml.Node) { c.Brokers = r.texts(place, v) },
		"topic":         func(place string, v *yaml.Node) { c.Topic = r.text(place, v) },
		"structured":    func(place string, v *yaml.Node) { c.Structured = r.boolean(place, v) },
		"timeout":       r.durationInto(&c.Timeout, kafka.MinTimeout, kafka.MaxTimeout),
		"max_bytes":     r.numberInto(&maxBytes, 1024, 1<<30),
		"create_topics": func(place string, v *yaml.Node) { c.CreateTopics = r.boolean(place, v) },
		"tls": func(place string, v *yaml.Node) {
			if r.boolean(place, v) {
				c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
			}
		},
		"sasl": func(place string, v *yaml.Node) { r.sasl(place, v, route) },
	})
	c.MaxBytes = int32(maxBytes)
	if !has(n, "brokers") {
		r.problem(n, "%s needs brokers", place)
	}
}

func (r *reader) sasl(place string, n *yaml.Node, route *Route) {
	c := route.Kafka
	r.mapping(n, place, keys{
		"mechanism":     func(place string, v *yaml.Node) { c.Mechanism = kafka.Mechanism(r.text(place, v)) },
		"user":          func(place string, v *yaml.Node) { c.User = r.text(place, v) },
		"password_env":  func(place string, v *yaml.Node) { route.secrets = []secret{{env: r.text(place, v)}} },
		"password_file": func(place string, v *yaml.Node) { route.secrets = []secret{{file: r.text(place, v)}} },
	})
	for _, key := range []string{"mechanism", "user"} {
		if !has(n, key) {
			r.problem(n, "%s needs a %s", place, key)
		}
	}
	if has(n, "password_env") == has(n, "password_file") {
		r.problem(n, "%s needs one of password_env and password_file", place)
	}
}

// secrets reads where secrets are: one text, or a list of them.
func (r *reader) secrets(place string, n *yaml.Node, route *Route, of func(string) secret) {
	names := []string{}
	if resolve(n).Kind == yaml.SequenceNode {
		names = r.texts(place, n)
	} else {
		names = append(names, r.text(place, n))
	}
	for _, name := range names {
		route.secrets = append(route.secrets, of(name))
	}
}

func (r *reader) namedTexts(place string, n *yaml.Node) map[string]string {
	m := map[string]string{}
	r.pairs(n, place, func(key, value *yaml.Node) { m[key.Value] = r.text(join(place, key.Value), value) })
	return m
}
