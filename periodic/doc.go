// Package periodic submits the jobs of periodic tasks, on time and once. It is
// the PeriodicScheduler of Docspell's ADR 0012, "Periodic Tasks".
//
// A row of the table periodic_task says what to submit and when. A [Scheduler]
// runs in any number of processes on one database; each of them
//
//  1. clears stale marks at startup: those of its own name, and all that have
//     expired;
//  2. claims the earliest due tasks by marking them, and commits, so that the
//     others pass them over;
//  3. decides for each what becomes of its tick, in a pure function of the
//     task, the time and the job of that name that is not final;
//  4. in one transaction, fenced by the marks, writes the new due and nextrun,
//     removes the marks, records the ticks and submits the jobs;
//  5. sleeps until the earliest nextrun, the expiry of the earliest mark, a
//     notice that something changed, or the poll interval.
//
// What fails in a batch, because of a row that the database refuses or that
// somebody has locked, is searched for beside the loop. A task that fails alone is
// set aside and tried again by itself, so that it holds up no other.
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
// submits the job, so that a crash leaves either both or none. A mark is a
// lease. Work done under a mark that was lost, because it expired or because
// somebody edited the row, finds no row to update and drops out of the batch.
//
// Whether a task is due is judged by the database's clock.
package periodic
