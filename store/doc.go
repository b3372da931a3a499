// Package store is the only package of nextrun with SQL. It opens a database,
// PostgreSQL or SQLite, and implements the interfaces that periodic and
// jobqueue declare: [DB.Periodic] for the scheduler, [DB.Jobs] for the queue.
//
// A program that has its own schedules declares them at each start with
// [periodic.Tasks.Apply], as the examples show; docs/tutorials/embedding.md has a whole program.
//
// This package is a facade, and links no driver. The SQL is in the packages below store/internal:
//
//	connect   opens a database, by its URL or over a pool; the drivers are in
//	          store/postgres and store/sqlite, which a program imports
//	sqldb     transactions, errors, rows as parameters; below it postgres and
//	          sqlite, what only one of the databases has
//	schedule  periodic_task, periodic_tick, periodic_ready: what schedulers and
//	          those who manage tasks need, and the sink that fills the queue
//	queue     job, joblog, jobgroupuse, job_pause, job_limit: what executors need, and
//	          those who submit and change jobs
//	events    event_store, outbox_message and their topics: append, publish, read
//	lock      scheduler_lock
//	foreign   what the queues of other projects share, whose kinds are in
//	          store/queues
//
// The parts know sqldb and not one another, so that the queue's code cannot
// reach the scheduler's rows. Here remain what needs several of them
// (housekeeping, and the sinks of the scheduler), Docspell's tables, and the
// names that a program uses.
//
// Every transaction carries one now ([Tx.Now]): PostgreSQL's clock_timestamp()
// when the transaction began, on SQLite the host's clock once the write lock
// was held. Times are UTC with microseconds; [Timestamp] converts both ways.
package store
