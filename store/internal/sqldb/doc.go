// Package sqldb is the connection to a database, PostgreSQL or SQLite. It knows
// no table of nextrun.
//
//	open.go, options.go   Open and its options
//	adopt.go              the same for a pool that the program has opened
//	url.go                database URLs, shown without their secrets
//	tx.go, scan.go        transactions: one now each, statements, rows as structs,
//	                      and values that anybody may have written
//	errors.go             the sentinel errors, which each statement's error wraps
//	records.go            many rows as one parameter of a statement
//	timestamp.go          columns of times
//	dialect.go            the questions in which the databases differ
//	postgres*.go          the answers for PostgreSQL, its connections, LISTEN
//	sqlite*.go            the answers for SQLite, its file, PRAGMA data_version; without
//	                      cgo, or with the tag nosqlite, there is no driver for its URLs
//
// SQL is written once where both databases can share it. A dialect answers
// questions and runs no logic.
package sqldb
