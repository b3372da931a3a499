// Package kafka publishes events of the outbox to Kafka with franz-go. It is the
// command's own, so that programs that embed nextrun do not depend on a Kafka
// client.
//
// A record's topic is the event's, unless one is configured; its key is the
// aggregate's id, so that the events of an aggregate stay in order in one
// partition; in binary mode the attributes are ce_* headers and the value is the
// payload, in structured mode the value is the whole event (CloudEvents Kafka
// protocol binding 1.0.2).
//
// The producer is idempotent and waits for all in-sync replicas: its own retries
// neither repeat nor reorder records. If a batch is not acknowledged in time, the
// publisher closes the producer, so that no record of the batch is sent later, after
// records of another relay. The relay then publishes the batch again.
package kafka
