// Package jobqueue is the queue that the scheduler of package periodic fills:
// jobs, their states, a [Queue] to submit, watch and change them, and an
// [Executor] that runs them. It follows the model of Docspell's job executor:
// jobs belong to groups that are served in turn, have one of two priorities,
// are retried through the state stuck, report progress and write a log.
//
// # Claims
//
// An executor claims jobs of the tasks that have a handler, as many as it has
// room for. It passes over rows that others have locked. Groups take turns; within
// a group the counting scheme (by default 3 of high priority to 1 of low) chooses
// the priority, and the oldest job goes first.
//
// Limits bound how many jobs run at once, over all executors: of a task, of a group
// ([Queue.SetLimit]), of a handler ([WithLimits]) and of a tracker (the Limits of a
// [Job]). A claim leaves jobs that are beyond one where they are and takes others. Jobs
// that run count until they end, or are taken back from a worker that died.
//
// # Attempts
//
// A claim takes jobs from waiting to running in one step. When it is committed,
// the executor calls their handlers. (A job that somebody has asked to cancel is
// cancelled instead.) So the job log has a line "attempt N begins" for every call
// of a handler. If the reply to a claim is lost, its jobs return to waiting. Every
// transition is an UPDATE with the state and the worker in its WHERE, so a worker
// that has lost a job cannot change it. What happens while one transaction commits
// is written in the next one.
//
// # Leases
//
// Jobs in flight carry a heartbeat. If it is older than the lease, and still is a
// second later, the executor that notices first puts the job back to waiting and
// counts an interruption. An executor that cannot renew its leases in
// time ends the contexts of its handlers. Running jobs without a heartbeat, and
// jobs of unknown states, belong to other kinds of executors and are left alone.
//
// Delivery is therefore at least once. Handlers should be idempotent. Package
// handlers has some that run programs and make HTTP calls.
//
// # Jobs that the database refuses
//
// A constraint, a trigger or a lock may stop the executor from changing a job. The
// executor then finds that job, reports it once ([EventRefused]), and processes the
// other jobs without it. It retries the job alone: soon after the queue changes,
// otherwise ever more rarely.
//
// The package has no SQL. Package backend declares what it needs of a database;
// package store implements that.
package jobqueue
