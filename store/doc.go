// Package store opens a database, PostgreSQL or SQLite, and implements the
// interfaces that periodic and jobqueue declare: [DB.Periodic] for the
// scheduler, [DB.Jobs] for the queue.
//
// A program that has its own schedules declares them at each start with
// [periodic.Tasks.Apply], as the examples show; docs/tutorials/embedding.md has a whole program.
//
// It links no driver: import store/postgres or store/sqlite for one, or take package pgxstore. The
// SQL is in packages below store/internal, one for each subject: docs/internals/architecture.md.
//
// Every transaction carries one now ([Tx.Now]): PostgreSQL's clock_timestamp()
// when the transaction began, on SQLite the host's clock once the write lock
// was held. Times are UTC with microseconds.
package store
