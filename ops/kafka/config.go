package kafka

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue/outbox/cloudevents"
)

// together keeps the client from sending the first records of a batch before it has the
// others: if the brokers refused those, the others could overtake them. ProduceSync ends
// that wait itself, once the topic is known.
const together = 100 * time.Millisecond

// Defaults of [Config].
const (
	DefaultTimeout  = 10 * time.Second
	DefaultMaxBytes = 1_000_012
)

// Mechanism is a way to log in.
type Mechanism string

// The mechanisms.
const (
	Plain       Mechanism = "plain" // needs TLS
	ScramSHA256 Mechanism = "scram-sha-256"
	ScramSHA512 Mechanism = "scram-sha-512"
)

// Config are the settings of a [Publisher]. Only Brokers has no default. It
// holds a secret: do not log it.
type Config struct {
	// Brokers are the addresses, HOST:PORT, of some brokers of the cluster.
	Brokers []string `yaml:"brokers"`
	// Topic is the topic of all records. Empty: that of the event.
	Topic string `yaml:"topic"`
	// Structured puts the whole event into the value.
	Structured bool `yaml:"structured"`
	// Source is the attribute source of the events, a URI reference.
	// Empty: cloudevents.DefaultSource.
	Source string
	// Timeout is how long a batch may take to be acknowledged. It must be well
	// below the lease of the relay. 0: DefaultTimeout.
	Timeout time.Duration `yaml:"timeout"`
	// MaxBytes is the greatest size of a batch of records, and so of an event;
	// brokers have their own bound. 0: DefaultMaxBytes.
	MaxBytes int `yaml:"max_bytes"`
	// CreateTopics asks the brokers to create topics that do not exist.
	CreateTopics bool `yaml:"create_topics"`
	// TLS encrypts the connections. nil: they are not encrypted.
	TLS *tls.Config
	// Mechanism, User and Password log in. Empty: without.
	Mechanism      Mechanism
	User, Password string
}

// Validate returns an error that names every field of Brokers, Timeout and
// MaxBytes that is out of bounds. [New] calls it.
func (c Config) Validate() error {
	p := &service.Check{Config: "kafka.Config"}
	p.Field(len(c.Brokers) > 0, "Brokers", "empty", "HOST:PORT of some brokers")
	service.Within(p, "Timeout", c.timeout(), time.Millisecond, time.Hour)
	service.Within(p, "MaxBytes", c.maxBytes(), 1<<10, 1<<30)
	return p.Err()
}

// options are the client's; an error names the field and the bound.
func (c Config) options() ([]kgo.Opt, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := cloudevents.CheckSource(c.Source); err != nil {
		return nil, fmt.Errorf("kafka.Config.Source: %w", err)
	}
	options := []kgo.Opt{
		kgo.SeedBrokers(c.Brokers...),
		kgo.ClientID("nextrun"),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerBatchMaxBytes(int32(c.maxBytes())),
		kgo.ProducerLinger(together),
	}
	if c.CreateTopics {
		options = append(options, kgo.AllowAutoTopicCreation())
	}
	if c.TLS != nil {
		options = append(options, kgo.DialTLSConfig(c.TLS))
	}
	mechanism, err := c.mechanism()
	if err == nil && mechanism != nil {
		options = append(options, kgo.SASL(mechanism))
	}
	return options, err
}

func (c Config) timeout() time.Duration {
	if c.Timeout == 0 {
		return DefaultTimeout
	}
	return c.Timeout
}

func (c Config) maxBytes() int {
	if c.MaxBytes == 0 {
		return DefaultMaxBytes
	}
	return c.MaxBytes
}

func (c Config) mechanism() (sasl.Mechanism, error) {
	switch c.Mechanism {
	case "":
		return nil, nil
	case Plain:
		if c.TLS == nil {
			return nil, errors.New("kafka.Config.Mechanism plain sends the password as it is; set TLS too")
		}
		return plain.Auth{User: c.User, Pass: c.Password}.AsMechanism(), nil
	case ScramSHA256:
		return scram.Auth{User: c.User, Pass: c.Password}.AsSha256Mechanism(), nil
	case ScramSHA512:
		return scram.Auth{User: c.User, Pass: c.Password}.AsSha512Mechanism(), nil
	}
	return nil, fmt.Errorf("kafka.Config.Mechanism is %q; use %s, %s or %s", c.Mechanism, Plain, ScramSHA256, ScramSHA512)
}
