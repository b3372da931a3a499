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
// worker that has died.
//
// # Who has died
//
// A job carries the id of its worker, which is another one at each start of an executor, and each executor keeps a row
// of that id in the table worker. It raises the beat in that row every 2 s while any job runs, and right after that it
// looks at the beats of the others that have jobs. A worker whose beat is the same at six looks in a row is dead
// (deaths.go), and the observer rescues its jobs, unless its row is locked or has moved meanwhile. A look counts only
// after a beat of the observer's own, and within 4 s of the one before. So an outage, a failover, a step of the clock
// or a process that stood still costs no living worker its jobs. Within 12 s the jobs of a killed one run again.
//
// A worker that cannot reach the database goes on with its jobs. Every 30 s it compares them with those
// that the database says it has: what was lost meanwhile is cancelled, and what it does not know of is unclaimed.
// Jobs of other kinds of executors, which have no such row, and jobs of unknown states are left alone.
//
// # Jobs that the database refuses
//
// A constraint, a trigger or a lock may stop the executor from changing a job. The executor
// then finds that job, reports it once, and processes the other jobs without it. It
// retries the job alone: soon after the queue changes, otherwise at growing intervals.
package executor
