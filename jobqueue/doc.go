// Package jobqueue is the queue that the scheduler of package periodic fills: a [Queue] to submit, watch and change
// jobs, and the [Handler] that runs them. Package executor claims jobs, package handlers has handlers that run programs
// and make HTTP calls, and package store opens the database.
//
// Delivery is at least once, so handlers should be idempotent, or end with [CompleteTx].
package jobqueue
