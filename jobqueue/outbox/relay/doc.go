// Package relay hands events of the outbox over.
//
// A [Relay] publishes the messages of topics through an [outbox.Publisher]: at least once and in order within a topic.
// Receivers recognize duplicates by the event's id. Any number of relays share the topics. One relay at a time holds a
// topic, under a lease with a token of its own, and it can record what it published only while that token is still
// the topic's. A message that fails is tried again with backoff, and later messages of the topic wait. A message that
// the receiver refuses for good ([jobqueue.Permanent]) several times is set aside as dead, and the topic goes on without it;
// or it holds the topic: see Config.RefusalLimits.
//
// A relay that dies, or pauses past its lease, between publishing and recording leaves its batch to be published
// again. A receiver that must not process duplicates stores the greatest version of each aggregate.
//
// # Consumers
//
// A relay that [NewConsumer] returns hands each event to a function of the program, in the transaction that marks the
// event: what the function writes there happens once.
//
// # Bad rows
//
// A row that cannot be read, that the database refuses to change, or that another session has locked, holds up its own
// topic only: each topic is leased and settled in transactions of its own. A topic that cannot be leased, or of which a
// batch cannot be recorded, is tried again at growing intervals, one event at a time and only if its message can be written, so that few
// events of it come twice. A [Notice] names it once.
package relay
