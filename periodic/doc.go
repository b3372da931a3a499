// Package periodic submits the jobs of periodic tasks, on time and once. It is
// the PeriodicScheduler of Docspell's ADR 0012, "Periodic Tasks".
//
// A row of the table periodic_task says what to submit and when. Package scheduler
// runs in any number of processes on one database. [Tasks] manages the rows; a program that has
// its own schedules makes them with [NewSchedule] and declares them at each start with [Tasks.Apply].
//
// A tick is the pair (task, due), and the table periodic_tick has one row for it
// at most: that makes one job of one tick. Nothing advances before it is committed:
// nextrun moves in the transaction that submits the job. Whoever works on a task
// has its row locked, and a plan that was made before is written only if the row is as it was
// read. The database's clock judges whether a task is due.
//
// A [Task] is a row of periodic_task, a [Tick] a row of periodic_tick. [Decide] makes a
// [Plan] of a task and what is known about it: which ticks to submit, skip or queue, and
// when the task is due next. It does no I/O and reads no clock. [Task.Validate] finds what
// is wrong with a task, [Task.Upcoming] and [Preview] say when it ticks.
//
// A [sink.Submitter] feeds a queue that is not nextrun's. docs/internals/architecture.md follows a tick
// through all packages.
package periodic
