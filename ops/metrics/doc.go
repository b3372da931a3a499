// Package metrics shows Prometheus what nextrun does.
//
// There are two sources. What a process does is counted from the events of its
// scheduler, executor and relay:
//
//	m := metrics.New(metrics.Options{})
//	scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{Name: host, Observe: m.Scheduler})
//	executor, err := executor.New(db.Jobs(), executor.Config{Name: host, Observe: m.Executor})
//	relay, err := relay.New(db.Outbox(), publisher, relay.Config{Name: host, Observe: m.Relay})
//
// What the database holds is read by [Metrics.Watch]: any process that lives can show
// it, so a scheduler that is dead is seen by those who ask another process. [Metrics]
// is a prometheus.Collector; [Metrics.Handler] serves it.
//
// All names begin with nextrun_, times are in seconds, and labels hold ids and names,
// never args, results or errors. One rule fits every timer: a task is stale if it has
// nextrun_task_stale_since_timestamp_seconds.
package metrics
