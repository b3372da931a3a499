// Package storetest gives each test a database of its own: [SQLiteURL],
// [PostgresURL] and, for tests that stop the server, [PostgresServer].
//
// PostgreSQL comes from the server that NEXTRUN_TEST_POSTGRES names or else
// from scripts/with-postgres. A test that can have none fails and says what to
// install or set; it is never skipped.
//
// The package needs a Unix system with bash. It starts no goroutines and keeps
// no connection open, so that tests can look for leaks of their own. All
// functions may be called from parallel tests.
package storetest
