// Package jobqueue is the queue that the scheduler of package periodic fills:
// jobs, their states, a [Queue] to submit, watch and change them, and an
// [Executor] that runs them. It follows the model of Docspell's job executor:
// jobs belong to groups that are served in turn, have one of two priorities,
// are retried through the state stuck, report progress and write a log.
//
// # Claims
//
// An executor claims jobs of the tasks that have a handler, as many as it has
// room for, in one statement that passes over rows which others have locked.
// Groups take turns; within a group the counting scheme (by default 3 of high
// priority to 1 of low) chooses the priority, and the oldest job goes first.
//
// # Attempts
//
// A claim takes jobs from waiting through scheduled to running in one step, since
// there is room for them, and when it is committed their handlers are called. (A
// job that somebody has asked to cancel stays scheduled and does not begin.) So
// the job log has a line "attempt N begins" for every call that a handler ever
// got. What a claim got whose answer is lost goes back to waiting. Every transition is an UPDATE with
// the state and the worker in its WHERE: who has lost a job cannot change it.
// All that happens while one transaction commits goes into the next one.
//
// # Leases
//
// Jobs in hand carry a heartbeat. One whose heartbeat is older than the lease
// goes back to waiting, by whichever executor notices first, and counts as
// interrupted; an executor that cannot renew its leases in time ends the
// contexts of its handlers. Jobs in hand without a heartbeat, and jobs of
// unknown states, belong to other kinds of executors and are left alone.
//
// Delivery is therefore at least once. Handlers should be idempotent. Package
// handlers has some that run programs and make HTTP calls.
//
// The package has no SQL; package store implements the interfaces it declares.
package jobqueue
