package webhook

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/web"
	"github.com/nextrun/nextrun/jobqueue/outbox/cloudevents"
)

// DefaultTimeout is the Timeout of a [Config] that sets none.
const DefaultTimeout = 10 * time.Second

// Mode says how an event is put into a request.
type Mode string

// The modes.
const (
	Structured Mode = "structured" // the body is the whole event in JSON
	Binary     Mode = "binary"     // attributes are headers, the body is the payload
)

// Config are the settings of a [Publisher]. Only URL has no default. It holds
// secrets: do not log it.
type Config struct {
	// URL is where events are posted to: http or https.
	URL string `yaml:"url" form:"secret"`
	// Mode is Structured if empty.
	Mode Mode `yaml:"mode"`
	// Source is the attribute source of the events, a URI reference.
	// Empty: cloudevents.DefaultSource.
	Source string
	// Secrets sign the requests. Each adds a signature, so that a new secret can
	// replace an old one while receivers still know only one of them. A secret
	// is "whsec_" and the key in base64, as the Standard Webhooks libraries read
	// it, or "raw:" and the key itself. A key has at least 16 bytes.
	// None: requests are not signed.
	Secrets []string `yaml:"secret" form:"key"`
	// Header is sent along, such as Authorization. It must have none of
	// those that the publisher sets.
	Header http.Header `yaml:"headers"`
	// Timeout bounds a request, from the name of the host to the end of its answer. It must be well below the lease
	// of the relay. 0: 10 s.
	Timeout time.Duration `yaml:"timeout"`
	// Transport makes the connections. nil: a copy of http.DefaultTransport that drops those that fall silent.
	Transport http.RoundTripper
}

func (c Config) withDefaults() Config {
	service.SetDefault(&c.Mode, Structured)
	service.SetDefault(&c.Timeout, DefaultTimeout)
	return c
}

// Validate returns an error that names every field that is bad; it shows neither
// the URL nor a secret. [New] calls it.
func (c Config) Validate() error {
	c = c.withDefaults()
	p := &service.Check{Config: "webhook.Config"}
	p.Field(web.GoodURL(c.URL), "URL", "not usable", "a URL such as https://example.org/events")
	p.Field(c.Mode == Structured || c.Mode == Binary, "Mode", fmt.Sprintf("%q", c.Mode), fmt.Sprintf("%s or %s", Structured, Binary))
	service.Within(p, "Timeout", c.Timeout, time.Millisecond, time.Hour)
	source := cloudevents.CheckSource(c.Source)
	if source != nil {
		source = fmt.Errorf("webhook.Config.Source: %w", source)
	}
	var headers error
	for name, values := range c.Header {
		if !web.HeaderName(name) || !web.ValidHeader(strings.Join(values, "")) || reserved(name) {
			headers = fmt.Errorf("webhook.Config.Header: %q cannot be set", name)
		}
	}
	_, keys := c.keys()
	return errors.Join(p.Err(), source, headers, keys)
}

// reserved reports whether the publisher sets a header itself.
func reserved(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "ce-") || strings.HasPrefix(name, "webhook-") ||
		name == "content-type" || name == "content-length" || name == "host"
}

// keys are the bytes of the secrets.
func (c Config) keys() ([][]byte, error) {
	var keys [][]byte
	for i, secret := range c.Secrets {
		key, err := keyOf(secret)
		if err != nil {
			return nil, fmt.Errorf("webhook.Config.Secrets[%d] %w", i, err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// Prefixes of a secret.
const (
	base64Secret = "whsec_"
	rawSecret    = "raw:"
)

// minKey is the least length of a key in bytes.
const minKey = 16

// keyOf is the key of a secret. The error completes a sentence about it. A text
// without a prefix is refused: we would sign with its bytes, but the receivers'
// libraries would decode it as base64 and find every signature wrong.
func keyOf(secret string) ([]byte, error) {
	key, raw := strings.CutPrefix(secret, rawSecret)
	if !raw {
		encoded, ok := strings.CutPrefix(secret, base64Secret)
		if !ok {
			return nil, errors.New("must begin with whsec_ and go on in base64, or begin with raw: and go on with the key itself")
		}
		decoded, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, errors.New("is not base64 after whsec_")
		}
		key = string(decoded)
	}
	if len(key) < minKey {
		return nil, fmt.Errorf("has a key of %d bytes; use %d or more random bytes", len(key), minKey)
	}
	return []byte(key), nil
}
