// Package jobqueue is the queue that the scheduler of package periodic fills: a
// [Queue] to submit, watch and change jobs, the [Handler] that runs them, and what both
// have to do with: [Job], [State], [Limits]. It follows the model of Docspell's job
// executor: jobs belong to groups that are served in turn, have one of two priorities,
// are retried through the state stuck, report progress and write a log.
//
// Package executor claims jobs and runs them, with the handlers that it was given. Groups
// take turns; within a group, by default 3 jobs of high priority go to 1 of low, the
// oldest first. Limits bound how many jobs run at once, over all executors: of a task, of
// a group ([Queue.SetLimit]), of a handler ([WithLimits]) and of a tracker ([Job].Limits).
//
// Delivery is at least once: a worker may die, or lose the database, after the work was
// done and before that was recorded. Handlers should be idempotent. Package handlers
// has some that run programs and make HTTP calls. Package store opens the database.
//
// A database implements [Store] for executors and [QueueStore] for queues. An executor
// sends a [Request] and gets a [Result]; both are plain data.
package jobqueue
