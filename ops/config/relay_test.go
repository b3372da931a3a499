package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/config"
)

// build reads a file and builds its relay's publishers.
func build(t *testing.T, text string, env map[string]string) (*config.Publishers, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nextrun.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Read(path)
	if err != nil {
		return nil, err
	}
	return c.BuildRelay(func(name string) string { return env[name] })
}

func TestRelaySection(t *testing.T) {
	t.Parallel()
	built, err := build(t, `
relay:
  source: https://example.org/nextrun
  lease: 1m
  topics:
    billing:
      webhook:
        url: https://example.org/events
        mode: binary
        timeout: 30s
        header_env: {Authorization: TOKEN}
        secret_env: [NEW_KEY, OLD_KEY]
    orders: {kafka: {brokers: ["k1:9092"], tls: true, sasl: {mechanism: scram-sha-256, user: u, password_env: TOKEN}}}
`, map[string]string{"TOKEN": "Bearer x", "NEW_KEY": "raw:0123456789abcdef", "OLD_KEY": "whsec_MDEyMzQ1Njc4OWFiY2RlZg=="})
	if err != nil {
		t.Fatal(err)
	}
	built.Close()
	if len(built.Topics) != 2 || len(built.Names()) != 2 {
		t.Errorf("topics %v", built.Names())
	}
}

// 0 is no limit: a refused event holds its topic.
func TestRelayWithoutARefusalLimit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "nextrun.yaml")
	if err := os.WriteFile(path, []byte("relay: {topics: {t: {webhook: {url: 'http://x'}, refusal_limit: 0}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Read(path)
	if err != nil || c.Relay.Topics["t"].RefusalLimit != outbox.Never {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestRelaySectionSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	const secret = "geheim"
	for name, test := range map[string]struct{ route, want string }{
		"nothing":       {`{}`, "needs one of webhook and kafka"},
		"two":           {`{webhook: {url: "http://x"}, kafka: {brokers: [k:1]}}`, "needs one of webhook and kafka"},
		"no url":        {`{webhook: {mode: binary}}`, "relay.topics.t.webhook needs a url"},
		"mode":          {`{webhook: {url: "http://x", mode: odd}}`, "nextrun.yaml:3: relay.topics.t.webhook.mode must be structured or binary"},
		"unset":         {`{webhook: {url: "http://x", secret_env: NOT_SET}}`, "NOT_SET"},
		"short":         {`{webhook: {url: "http://x", secret_env: SHORT}}`, "16 or more"},
		"timeout":       {`{webhook: {url: "http://x", timeout: 20s}}`, "at most half of relay.lease"},
		"kafka timeout": {`{kafka: {brokers: [k:1], timeout: 20s}}`, "at most half of relay.lease"},
		"no brokers":    {`{kafka: {topic: x}}`, "needs brokers"},
		"sasl":          {`{kafka: {brokers: [k:1], sasl: {mechanism: plain, user: u, password_env: SHORT}}}`, "set TLS too"},
		"unknown":       {`{webhook: {url: "http://x", secret: x}}`, `unknown key "secret"`},
		"in the file":   {`{webhook: {url: "http://x", secret_file: /does/not/exist}}`, "read a secret"},
	} {
		_, err := build(t, "relay:\n  topics:\n    t: "+test.route+"\n", map[string]string{"SHORT": "raw:" + secret})
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v\n  want %s", name, err, test.want)
		}
	}
}
