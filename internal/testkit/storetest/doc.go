// Package storetest gives each test a database of its own. [Both] runs a test on
// each kind, [New] makes one of a kind, and [PostgresServer] is for tests that
// stop the server. [SQLiteURL] and [PostgresURL] are for those that need no more
// than the address.
//
// PostgreSQL comes from the server that NEXTRUN_TEST_POSTGRES names or else
// from scripts/with-postgres. A test that can have none fails and says what to
// install or set; it is never skipped.
//
// The package needs a Unix system with bash. Whatever it opens or starts ends
// with the test, so that tests can look for leaks of their own. All functions
// may be called from parallel tests. It does not import package store, whose own
// tests use it.
package storetest
