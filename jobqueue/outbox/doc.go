// Package outbox has events instead of jobs: a transactional outbox that takes
// them from the schedule, or from the transaction of an embedding program, to the
// consumer.
//
// # Writing
//
// A tick of a task whose sink is event writes a row of event_store and one of
// outbox_message, in the transaction that advances the task. [AppendTx] does the
// same in a transaction of the caller. The caller's changes and the events are
// committed together or not at all. The versions of an aggregate rise by one
// without gaps: they come from a row of event_aggregate, which a writer locks
// until it commits. So versions are committed in their own order.
//
// # Order
//
// Transactions do not commit in the order in which their events got their
// numbers. Therefore no reader of this package asks for "numbers greater than the
// last one seen". An event a comes before an event b of its topic if a was
// committed before b was appended. Events of one aggregate are always ordered in
// this way. Events of concurrent transactions come in any order.
//
// A relay takes what is unpublished, lowest number first. Consumer groups read by
// position. Events get their positions after the commit, one after the other
// under a lock, so that a position that can be seen has no gap before it.
//
// # Relays
//
// A [Relay] publishes the messages of topics through a [Publisher]: at least once
// and in order within a topic. Receivers recognize duplicates by the event's id.
// Any number of relays share the topics. One relay at a time holds a topic, under
// a lease whose token rises each time, and it can record what it published only
// while that token is still the topic's. A message that fails is tried again with
// backoff, and later messages of the topic wait. A message that the receiver
// refuses for good ([Refuse]) several times is set aside as dead. A strict topic
// stops then; another one goes on without the message.
//
// A relay that dies, or pauses past its lease, between publishing and recording
// leaves its batch to be published again. A receiver that must not process
// duplicates stores the greatest version of each aggregate.
//
// # Consumer groups
//
// A [Consumer] reads the event store itself, with an offset for each group and
// topic, under a lease as above. Notifications wake it.
//
// # Bad rows
//
// A row that cannot be read, that the database refuses to change, or that another
// session has locked, holds up its own topic only. The loop leaves such a topic
// out of its claims and tries it apart from the others, ever more rarely. A worker
// that cannot record what it published keeps the lease, gives its place to another
// worker, and tries again. A [Notice] names each such row once.
//
// The package has no SQL. store.DB.Outbox and store.DB.EventLog implement its
// interfaces.
package outbox
