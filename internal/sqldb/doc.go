// Package sqldb is an open database, PostgreSQL or SQLite. It knows no table of
// nextrun, only their names, for errors.
//
//	db.go, options.go     the database, its pools and its options
//	tx.go, scan.go        transactions: statements, rows as structs, and values that
//	                      anybody may have written
//	timing.go, health.go  the now and the timeouts of a transaction; what transactions
//	                      have found out: outages, the difference of the clocks
//	errors.go             the sentinel errors, which each statement's error wraps
//	records.go            many rows as one parameter of a statement
//	timestamp.go          columns of times
//	dialect.go, words.go  the questions in which the databases differ
//
// The packages postgres and sqlite of store/internal answer these questions, and connect, beside
// them, chooses. SQL is written once where both databases can share it.
package sqldb
