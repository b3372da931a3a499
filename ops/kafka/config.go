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
	// SASL logs in. Zero: without.
	SASL SASL `yaml:"sasl"`
}

// SASL is a login.
type SASL struct {
	Mechanism Mechanism `yaml:"mechanism"`
	User      string    `yaml:"user"`
	Password  string    `yaml:"password" form:"key"`
}

// Validate returns an error that names every field that is bad or missing. It does not show the password.
func (s SASL) Validate() error {
	p := &service.Check{Config: "kafka.SASL"}
	p.Field(s.Mechanism == Plain || s.Mechanism == ScramSHA256 || s.Mechanism == ScramSHA512,
		"Mechanism", fmt.Sprintf("%q", s.Mechanism), fmt.Sprintf("%s, %s or %s", Plain, ScramSHA256, ScramSHA512))
	p.Field(s.User != "", "User", `""`, "the name to log in with")
	p.Field(s.Password != "", "Password", `""`, "a password")
	return p.Err()
}

func (c Config) withDefaults() Config {
	service.SetDefault(&c.Timeout, DefaultTimeout)
	service.SetDefault(&c.MaxBytes, DefaultMaxBytes)
	return c
}

// Validate returns an error that names every field of Brokers, Timeout,
// MaxBytes and SASL that is out of bounds. [New] calls it.
func (c Config) Validate() error {
	c = c.withDefaults()
	p := &service.Check{Config: "kafka.Config"}
	p.Field(len(c.Brokers) > 0, "Brokers", "empty", "HOST:PORT of some brokers")
	service.Within(p, "Timeout", c.Timeout, time.Millisecond, time.Hour)
	service.Within(p, "MaxBytes", c.MaxBytes, 1<<10, 1<<30)
	if c.SASL != (SASL{}) {
		p.Field(c.SASL.Mechanism != Plain || c.TLS != nil, "SASL", "plain", "with TLS, or of another mechanism than plain, which sends the password as it is")
		return errors.Join(p.Err(), c.SASL.Validate())
	}
	return p.Err()
}

// options are the client's.
func (c Config) options() []kgo.Opt {
	options := []kgo.Opt{
		kgo.SeedBrokers(c.Brokers...),
		kgo.ClientID("nextrun"),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerBatchMaxBytes(int32(c.MaxBytes)),
		kgo.ProducerLinger(together),
	}
	if c.CreateTopics {
		options = append(options, kgo.AllowAutoTopicCreation())
	}
	if c.TLS != nil {
		options = append(options, kgo.DialTLSConfig(c.TLS))
	}
	if c.SASL != (SASL{}) {
		options = append(options, kgo.SASL(c.SASL.mechanism()))
	}
	return options
}

func (s SASL) mechanism() sasl.Mechanism {
	switch s.Mechanism {
	case Plain:
		return plain.Auth{User: s.User, Pass: s.Password}.AsMechanism()
	case ScramSHA256:
		return scram.Auth{User: s.User, Pass: s.Password}.AsSha256Mechanism()
	}
	return scram.Auth{User: s.User, Pass: s.Password}.AsSha512Mechanism()
}
