package config

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/queues"
)

func TestQueuesSection(t *testing.T) {
	t.Parallel()
	c, err := parse("nextrun.yaml", []byte(`
queues:
  river:   {type: river, schema: public, queue: default, max_attempts: 25}
  workers: {type: graphile-worker, schema: graphile_worker}
  boss:    {type: pg-boss, schema: pgboss, per_task: true}
  messages: {type: pgmq, queue: mail}
  job:     {notify: false}
  legacy:  {notify: {url: "http://localhost/wake"}, type: sql, enqueue: "INSERT ... nextrun_batch", pending: "SELECT ... nextrun_open", cancel: "UPDATE ... nextrun_open"}
  woken:   {type: sql, enqueue: "INSERT ... nextrun_batch", pending: "SELECT ... nextrun_open", notify: "SELECT pg_notify('q', '')"}
`))
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
	if len(c.Queues) != 6 || len(c.Notify) != 2 || !c.Notify["job"].Off || c.Notify["legacy"].URL != "http://localhost/wake" {
		t.Errorf("queues %v, notify %v", c.Queues, c.Notify)
	}
}

func TestQueuesSectionSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	const types = "graphile-worker, pg-boss, pgmq, river, sql"
	for queue, want := range map[string]string{
		`a: {}`:                                                 "queues.a needs a type: one of " + types,
		`a: {type: rabbit}`:                                     "queues.a.type must be one of " + types,
		`a: {type: 1}`:                                          "queues.a.type must be a text",
		`a: {type: river, schma: x}`:                            `unknown key "schma" in queues.a; known are gone, max_attempts`,
		`a: {type: river, enqueue: x}`:                          `unknown key "enqueue" in queues.a`,
		`a: {type: river, max_attempts: 0}`:                     "queues.a.max_attempts must be a whole number from 1 to ",
		`a: {type: river, max_attempts: 100000}`:                "queues.a.max_attempts must be a whole number from 1 to ",
		`a: {type: river, schema: 'a"b'}`:                       "queues.a.schema must be ",
		`job: {type: river}`:                                    "queues.job: job is built in; choose another name for this queue",
		`event: {type: river}`:                                  "queues.event: event is built in; choose another name for this queue",
		`River: {type: river}`:                                  `queues.River: "River" cannot name a queue; use up to 64 lower-case letters`,
		`1a: {type: river}`:                                     `"1a" cannot name a queue`,
		`a: {type: sql, pending: "SELECT 1 FROM nextrun_open"}`: "queues.a needs enqueue",
		`a: {type: sql, enqueue: "INSERT nextrun_batch", pending: "SELECT 1"}`:                                             "queues.a.pending must be a statement that looks for the jobs of nextrun_open",
		`a: {type: sql, enqueue: "INSERT nextrun_batch", pending: "SELECT nextrun_open", notify: {url: "http://x", x: y}}`: `unknown key "x" in queues.a.notify`,
		`a: {type: river, notify: "SELECT 1"}`:                                                                             "queues.a.notify must be a mapping with a url, or false",
		`job: {schema: public}`:                                                                                            `unknown key "schema" in queues.job; known are notify`,
		`a: river`:                                                                                                         "queues.a",
	} {
		_, err := parse("nextrun.yaml", []byte("queues:\n  "+queue+"\n"))
		if text := fmt.Sprint(err); !strings.HasPrefix(text, "nextrun.yaml:2: ") || !strings.Contains(text, want) || strings.Contains(text, "\n") {
			t.Errorf("%s: %v\n  want %s", queue, err, want)
		}
	}
}
