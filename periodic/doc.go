// Package periodic submits the jobs of periodic tasks, on time and once. It is
// the PeriodicScheduler of Docspell's ADR 0012, "Periodic Tasks".
//
// A row of the table periodic_task says what to submit and when. A [Scheduler]
// runs in any number of processes on one database; each of them
//
//  1. clears stale marks at startup: those with its name, and all that have
//     expired;
//  2. claims the earliest due tasks by marking them, and commits, so that the
//     others pass them over;
//  3. decides what becomes of each tick, in a pure function of the task, the
//     time and the task's pending job;
//  4. in one transaction, fenced by the marks, writes the new due and nextrun,
//     removes the marks, records the ticks and submits the jobs;
//  5. sleeps until the earliest nextrun, the expiry of the earliest mark, a
//     notice that something changed, or the poll interval.
//
// If the database refuses a row, or somebody has locked it, its batch fails. The
// scheduler then searches for that row beside the loop. A task that fails alone is
// set aside and retried by itself, so that it holds up no other.
//
// [Tasks] manages the rows from Go. Package task has the values and the decision,
// package backend what the scheduler asks of a database, package leader the lock
// of the modes leader and exclusive.
//
// # Why nothing is lost or doubled
//
// A tick is the pair (task, due), and the table periodic_tick has one row for
// it at most: its primary key, not the loop, makes one job of one tick. Nothing
// advances before it is committed: nextrun moves in the transaction that
// submits the job, so that after a crash either both have happened or neither. A mark is a
// lease. Work done under a mark that was lost, because it expired or because
// somebody edited the row, finds no row to update and drops out of the batch.
//
// The database's clock judges whether a task is due.
package periodic
