// Package store is the only package of nextrun with SQL. It opens a database,
// PostgreSQL or SQLite, and implements the interfaces that periodic and
// jobqueue declare: [DB.Periodic] for the scheduler, [DB.Jobs] for the queue.
//
// SQL is written once where both databases can share it. What differs sits
// behind the dialect interface in postgres.go and sqlite.go, which answer
// questions and run no logic.
//
// Every transaction carries one now ([Tx.Now]): PostgreSQL's clock_timestamp()
// when the transaction began, on SQLite the host's clock once the write lock
// was held. Times are UTC with microseconds; [Timestamp] converts both ways.
package store
