// Package outbox has events instead of jobs: a transactional outbox from the
// schedule, or from the transaction of an embedding program, to the consumer.
//
// # Writing
//
// A tick of a task whose sink is event writes, in the transaction that advances
// the task, a row of event_store and one of outbox_message. [AppendTx] does the
// same in a transaction of the caller's. Either the caller's changes and the
// events are committed, or neither. The versions of an aggregate rise by one
// without gaps: they come from a row of event_aggregate, which a writer locks
// until it commits, so that the order of versions is the order of commits.
//
// # Order
//
// Transactions commit in another order than their events got their numbers, so
// no reader of this package asks for "numbers greater than the last one seen".
// An event a comes before an event b of its topic if a was committed before b
// was appended; events of one aggregate are always so ordered. Between events
// of transactions that ran at the same time there is no order to keep.
//
// A relay takes what is unpublished, lowest number first. The positions by
// which consumer groups read are given only after the commit, one after the
// other under a lock, so that a position that can be seen has no gap before it.
//
// # Relays
//
// A [Relay] publishes the messages of topics through a [Publisher]: at least
// once, in order within a topic, with the event's id for receivers to recognise
// duplicates by. Any number of relays share the topics: each topic is held by
// one at a time, under a lease whose token rises each time, and what was
// published is recorded only while that token is still the topic's. A message
// that fails is tried again with backoff, and those behind it wait. One that
// the receiver refuses for good ([Refuse]) is set aside as dead after a limit;
// a topic that is strict stops then, another goes on without it.
//
// A relay that dies, or is stopped past its lease, between publishing and
// recording leaves its batch to be published again by the next. A receiver that
// must not see such repetitions keeps the greatest version that it has seen of
// each aggregate.
//
// # Consumer groups
//
// A [Consumer] reads the event store itself, with an offset for each group and
// topic, under a lease as above, woken by notification.
//
// The package has no SQL; store.DB.Outbox and store.DB.EventLog are what its
// interfaces want.
package outbox
