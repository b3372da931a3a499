// Package jobqueue is the queue that the scheduler of package periodic fills: a [Queue] to submit, watch and change
// jobs, and the [Handler] that runs them. Package executor claims jobs and runs them, package handlers has handlers
// that run programs and make HTTP calls, and package store opens the database.
//
// Groups of jobs take turns; within a group, by default 3 jobs of high priority go to 1 of low, the oldest first.
// Limits bound how many jobs run at once, over all executors: of a task, of a group ([Queue.SetLimit]), of a handler
// ([WithLimits]) and of a tracker ([Job].Limits).
//
// Delivery is at least once: a worker may die, or lose the database, after the work was done and before that was
// recorded. Handlers should be idempotent, or end with [CompleteTx].
package jobqueue
