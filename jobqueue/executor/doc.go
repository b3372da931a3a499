// Package executor claims jobs, calls their handlers, and records how they end. It claims
// only jobs of tasks that have a handler; others wait for an executor that knows them.
//
// # Loop
//
// One goroutine owns the loop: the jobs in flight, the agenda of what is due, and
// what is set aside. One request to the database is on its way at a time, which reports what attempts have
// to say and claims jobs; what happens meanwhile goes into the next one. Each handler has a goroutine. It
// reports through the inbox, and through the log of its attempt.
//
// # Attempts
//
// A claim takes jobs from waiting to running in one step. When it is committed, the
// loop calls their handlers, as many at a time as the pool has places. While jobs are
// short, claims take up to twice as many as there are free places (see places.go).
// So the job log has a line "attempt N begins" for every call of a handler, and one more for a job
// that was unclaimed before its handler was called. (A job that somebody has asked to cancel is
// cancelled instead.) Every transition is an UPDATE with the state and the worker in its WHERE, so a
// worker that has lost a job cannot change it.
//
// Three words say how far the end is: the handler has returned; the end is recorded in the
// database; the attempt is gone from memory. Two say how a job gets back to waiting: its own worker
// unclaims it before it runs, as when the reply to a claim is lost; any executor rescues it from a
// worker that has ended or whose lease has.
//
// # Leases
//
// Jobs in flight carry a heartbeat. If it is older than the lease, and still is a second later, the
// executor that notices first rescues the job and counts an interruption. Jobs of a worker that is
// known to have ended are rescued at once. An executor that cannot renew its leases in time ends
// the contexts of its handlers. Running jobs without a heartbeat, and jobs of unknown states, belong
// to other kinds of executors and are left alone.
//
// # Jobs that the database refuses
//
// A constraint, a trigger or a lock may stop the executor from changing a job. The executor
// then finds that job, reports it once, and processes the other jobs without it. It
// retries the job alone: soon after the queue changes, otherwise ever more rarely.
package executor
