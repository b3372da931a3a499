package config

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/jobqueue/executor"
)

// referenceKeys finds a line of the tables of keys: one or several keys, default.
var referenceKeys = regexp.MustCompile("(?m)^\\| `([a-z_.]+(?:`, `[a-z_.]+)*)` \\| ([^|]*)\\|")

// referenceSection is a section of the configuration in docs/reference.md: the
// defaults of its keys, as they are written there.
func referenceSection(t *testing.T, section string) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "### Section "+section+"\n")
	if !found {
		t.Fatalf("docs/reference.md has no section %s", section)
	}
	text, _, _ = strings.Cut(text, "\n#")
	keys := map[string]string{}
	for _, match := range referenceKeys.FindAllStringSubmatch(text, -1) {
		for key := range strings.SplitSeq(match[1], "`, `") {
			keys[key] = strings.TrimSpace(match[2])
		}
	}
	return keys
}

// The page has every key of the configuration file, and none besides.
func TestReferenceHasTheKeys(t *testing.T) {
	t.Parallel()
	for section, samples := range map[string]map[string]string{
		"database":  {"": "database: {bogus: 1}"},
		"scheduler": {"": "scheduler: {bogus: 1}", "lock.": "scheduler: {lock: {bogus: 1}}"},
		"executor":  {"": "executor: {bogus: 1}"},
		"queues": {
			"river": "queues: {a: {type: river, bogus: 1}}", "graphile-worker": "queues: {a: {type: graphile-worker, bogus: 1}}",
			"pg-boss": "queues: {a: {type: pg-boss, bogus: 1}}", "sql": "queues: {a: {type: sql, enqueue: x, pending: x, bogus: 1}}",
			"pgmq": "queues: {a: {type: pgmq, bogus: 1}}", "notify.": "queues: {job: {notify: {url: 'http://x', bogus: 1}}}",
		},
		"handlers": {"": "handlers: {a: {bogus: 1}}", "http.": "handlers: {a: {http: {bogus: 1}}}", " ": "handlers: {a: {sql: SELECT 1, bogus: 1}}"},
		"tasks": {
			"": "tasks: {a: {bogus: 1}}", "on_failure.": "tasks: {a: {on_failure: {command: [x], bogus: 1}}}",
			"on_failure. ": "tasks: {a: {on_failure: {url: 'http://x', bogus: 1}}}", "on_failure.  ": "tasks: {a: {on_failure: {submit: b, bogus: 1}}}",
		},
		"relay": {
			"":        "relay: {bogus: 1}",
			"webhook": "relay: {topics: {a: {table: true, bogus: 1}}}", "webhook.": "relay: {topics: {a: {webhook: {bogus: 1}}}}",
			"kafka.": "relay: {topics: {a: {kafka: {bogus: 1}}}}", "kafka.sasl.": "relay: {topics: {a: {kafka: {sasl: {bogus: 1}}}}}",
		},
	} {
		var want []string
		for prefix, sample := range samples {
			if prefix == "webhook" || section == "queues" && prefix != "notify." { // their keys stand beside those of the section
				prefix = ""
			}
			_, err := parse("nextrun.yaml", []byte(sample))
			match := knownKeys.FindStringSubmatch(fmt.Sprint(err))
			if match == nil {
				t.Fatalf("%s: %v", sample, err)
			}
			for key := range strings.SplitSeq(match[1], ", ") {
				want = append(want, strings.TrimSpace(prefix)+key)
			}
		}
		have := referenceSection(t, section)
		slices.Sort(want)
		for _, key := range slices.Compact(want) { // types of queues share keys
			if _, found := have[key]; !found {
				t.Errorf("docs/reference.md lacks %s of section %s", key, section)
			}
			delete(have, key)
		}
		for key := range have {
			t.Errorf("docs/reference.md has %s in section %s, which there is not", key, section)
		}
	}
}

// The defaults of the page are those of the sample, which another test holds
// against the code.
func TestReferenceHasTheDefaults(t *testing.T) {
	t.Parallel()
	var sample struct {
		Database, Scheduler, Executor, Relay map[string]any
		Handlers, Queues                     map[string]map[string]any
	}
	if err := yaml.Unmarshal([]byte(commented.ReplaceAllString(readSample(t), "$1$2")), &sample); err != nil {
		t.Fatal(err)
	}
	sample.Executor["retry_delay"] = executor.DefaultRetryDelay.String() // the sample sets others
	sample.Executor["retry_limit"] = strconv.Itoa(executor.DefaultRetryLimit)
	compared := 0
	for section, values := range map[string]map[string]any{
		"database": sample.Database, "scheduler": sample.Scheduler, "executor": sample.Executor, "relay": sample.Relay,
		"handlers": sample.Handlers["cat"], "queues": sample.Queues["river"],
	} {
		for key, cell := range referenceSection(t, section) {
			value, found := at(values, key)
			if !found || !strings.HasPrefix(cell, "`") || key == "kafka.tls" { // of which the sample has examples
				continue
			}
			compared++
			if cell != "`"+value+"`" && !sameDuration(cell, value) {
				t.Errorf("docs/reference.md says %s of %s.%s, the sample %s", cell, section, key, value)
			}
		}
	}
	if compared < 40 {
		t.Errorf("compared %d defaults only", compared)
	}
}

// at is the value under a key such as lock.ttl.
func at(values map[string]any, key string) (string, bool) {
	if topics, ok := values["topics"].(map[string]any); ok && !strings.HasPrefix(key, "topics") {
		for _, topic := range topics { // what is known of topics stands in any of them
			if value, found := at(topic.(map[string]any), key); found {
				return value, true
			}
		}
	}
	first, rest, deeper := strings.Cut(key, ".")
	value, found := values[first]
	if inner, ok := value.(map[string]any); ok && deeper {
		return at(inner, rest)
	}
	return fmt.Sprint(value), found && !deeper
}

func sameDuration(cell, value string) bool {
	a, errA := time.ParseDuration(strings.Trim(cell, "`"))
	b, errB := time.ParseDuration(value)
	return errA == nil && errB == nil && a == b
}
