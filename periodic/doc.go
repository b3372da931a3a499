// Package periodic submits the jobs of periodic tasks, on time and once. It is
// the PeriodicScheduler of Docspell's ADR 0012, "Periodic Tasks".
//
// A row of the table periodic_task says what to submit and when. A [Scheduler]
// runs in any number of processes on one database. [Tasks] manages the rows.
//
// A tick is the pair (task, due), and the table periodic_tick has one row for it
// at most: that makes one job of one tick. Nothing advances before it is committed:
// nextrun moves in the transaction that submits the job. Whoever works on a task
// has its row locked, and a plan that was made before is written only if the row is as it was
// read. The database's clock judges whether a task is due.
//
// Package task has the values and the decision, package backend what the scheduler
// asks of a database, package leader the lock of the modes leader and exclusive.
// docs/architecture.md follows a tick through all of them.
package periodic
