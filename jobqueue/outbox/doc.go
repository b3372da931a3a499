// Package outbox has events instead of jobs: a transactional outbox that takes them from the schedule, or from the
// transaction of an embedding program, to the receiver of its topic.
//
// # Writing
//
// A tick of a task whose sink is event writes a row of event_store and one of outbox_message, in the transaction that
// advances the task. [AppendTx] does the same in a transaction of the caller. The caller's changes and the events are
// committed together or not at all. The versions of an aggregate rise by one without gaps: they come from a row of
// event_aggregate, which a writer locks until it commits. So versions are committed in their own order.
//
// # Order
//
// Transactions do not commit in the order in which their events got their numbers. Therefore no reader of this package
// asks for "numbers greater than the last one seen". An event a comes before an event b of its topic if a was
// committed before b was appended. Events of one aggregate are always ordered in this way. Events of concurrent
// transactions come in any order.
//
// A relay takes what is unpublished, lowest number first.
//
// Package relay hands events over, to a [Publisher] or to a [Consumer]. A topic has one receiver.
//
// The package has no SQL. store.DB.Outbox implements its interface.
package outbox
