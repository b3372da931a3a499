package config

import (
	"reflect"
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
