package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/queues"
)

const secretsFile = `
on_missed: {url: "https://example.org/T0KEN12345", secret: "${SECRET}", headers: {Authorization: "${AUTH}"}}
handlers:
  dump: {command: [env], env: {PGPASSWORD: "${SECRET}", LANG: C}}
  call: {http: {url: 'http://x', headers: {Authorization: "${CALL_TOKEN}"}}}
  backup: {command: ["true"], on_failure: {url: "${WEBHOOK}"}}
tasks:
  weekly: {ping: "${PING}"}
queues:
  job: {notify: "https://joex:${WAKE_TOKEN}@example.org/wake"}
relay:
  topics:
    a: {webhook: {url: 'http://x', secret: ["${NEW_KEY}", "${OLD_KEY}"], headers: {X-Key: "${HOOK_KEY}"}}, refusal_limit: 0}
    b: {kafka: {brokers: ['k:9092'], tls: true, sasl: {mechanism: plain, user: u, password: "${KAFKA_PASSWORD}"}}}
`

// secretsEnv has what secretsFile takes from variables.
var secretsEnv = map[string]string{
	"SECRET": "raw:0123456789abcdef", "AUTH": "Bearer s3cret", "CALL_TOKEN": "Bearer s3cret", "WEBHOOK": "https://example.org/s3cret", "PING": "https://example.org/s3cret",
	"WAKE_TOKEN": "s3cret", "NEW_KEY": "raw:0123456789abcdef", "OLD_KEY": "whsec_MDEyMzQ1Njc4OWFiY2RlZg==", "HOOK_KEY": "s3cret", "KAFKA_PASSWORD": "s3cret",
}

// readWith reads a file where one variable has another value.
func readWith(file, variable, value string) (*Config, error) {
	return parse("nextrun.yaml", []byte(file), func(name string) string {
		if name == variable {
			return value
		}
		return secretsEnv[name]
	})
}

// builtWith builds all that a file configures, where one variable has another value.
func builtWith(file, variable, value string) error {
	c, err := readWith(file, variable, value)
	if err == nil {
		_, err = c.Build(nil)
	}
	if err == nil {
		_, err = c.BuildHooks()
	}
	if err == nil {
		_, err = c.NotifyURL()
	}
	if err == nil {
		var p *Publishers
		if p, err = c.BuildRelay(); err == nil {
			p.Close()
		}
	}
	return err
}

// Variables with secrets must be there, no error shows them, and commands do not get them unless their handler names one.
func TestSecretsOfTheFile(t *testing.T) {
	t.Parallel()
	c, err := readWith(secretsFile, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := builtWith(secretsFile, "SECRET", secretsEnv["SECRET"]+"\n"); err != nil { // a line end is no part of a secret
		t.Error(err)
	}
	want := []string{"NEXTRUN_DB", "NEXTRUN_DB_FILE", "PGPASSWORD"}
	for name := range secretsEnv {
		want = append(want, name)
		if err := builtWith(secretsFile, name, ""); err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "T0KEN") {
			t.Errorf("without %s: %v", name, err)
		}
	}
	slices.Sort(want)
	if got := slices.Sorted(slices.Values(c.secretVariables())); !slices.Equal(got, want) {
		t.Errorf("commands do not get %q, want %q", got, want)
	}
	if h := c.Handlers["dump"]; !slices.Equal(h.Command.Env, []string{"PGPASSWORD=raw:0123456789abcdef", "LANG=C"}) {
		t.Errorf("got %+v", h)
	}
	if c.Relay.RefusalLimits["a"] != jobqueue.Never {
		t.Errorf("a refusal_limit of 0 is %d", c.Relay.RefusalLimits["a"])
	}
	if url, err := c.NotifyURL(); err != nil || url != "https://joex:s3cret@example.org/wake" {
		t.Errorf("who hears of new jobs: %s, %v", url, err)
	}
}

// What only the owner of a setting knows is refused before anything starts.
func TestSettingsThatCannotBeBuilt(t *testing.T) {
	t.Parallel()
	for topic, want := range map[string]string{
		"webhook: {url: 'http://x', secret: '${SHORT}'}":                                     "16 or more",
		"webhook: {url: 'http://x', timeout: 20s}":                                           "at most half of relay.lease",
		"kafka: {brokers: ['k:1'], timeout: 20s}":                                            "at most half of relay.lease",
		"kafka: {brokers: ['k:1'], sasl: {mechanism: plain, user: u, password: '${SHORT}'}}": "with TLS",
		"webhook: {url: 'http://x', secret: '${file:/does/not/exist}'}":                      "webhook.secret: open /does/not/exist",
	} {
		err := builtWith("{relay: {topics: {t: {"+topic+"}}}}", "SHORT", "raw:geheim")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v\n  want %s", topic, err, want)
		}
	}
}

func TestQueuesSection(t *testing.T) {
	t.Parallel()
	c, err := parse("nextrun.yaml", []byte(`
queues:
  river:   {type: river, schema: public, queue: default, max_attempts: 25}
  workers: {type: graphile-worker, schema: graphile_worker}
  boss:    {type: pg-boss, schema: pgboss, per_task: true}
  messages: {type: pgmq, queue: mail}
  job:     {notify: none}
  legacy:  {type: sql, enqueue: "INSERT ... nextrun_batch", pending: "SELECT ... nextrun_open", cancel: "UPDATE ... nextrun_open"}
  woken:   {type: sql, enqueue: "INSERT ... nextrun_batch", pending: "SELECT ... nextrun_open", notify: "SELECT pg_notify('q', '')"}
`), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	for sink, want := range map[periodic.Sink]queues.Kind{
		"river":    &queues.River{Schema: "public", Queue: "default", MaxAttempts: 25},
		"workers":  &queues.GraphileWorker{Schema: "graphile_worker"},
		"boss":     &queues.PgBoss{Schema: "pgboss", PerTask: true},
		"messages": &queues.PGMQ{Queue: "mail"},
		"legacy":   &queues.SQL{Enqueue: "INSERT ... nextrun_batch", Pending: "SELECT ... nextrun_open", Cancel: "UPDATE ... nextrun_open"},
		"woken":    &queues.SQL{Enqueue: "INSERT ... nextrun_batch", Pending: "SELECT ... nextrun_open", Notify: "SELECT pg_notify('q', '')"},
	} {
		if got := c.Queues[sink]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v, want %+v", sink, got, want)
		}
	}
	if len(c.Queues) != 6 || c.Notify != "none" {
		t.Errorf("queues %v, notify %s", c.Queues, c.Notify)
	}
}
