// Package crashpoint names the places at which tests end or stop a process: between two
// statements of a transaction, before its commit, and after it.
//
// In programs that are built without the tag crashpoints, as all are but those of
// tests, [At] does nothing and [Connector] returns what it was given: the compiler removes
// both. With it, the variable NEXTRUN_CRASHPOINT says where and how:
//
//	kill:scheduler/ticks-recorded:3   at the third visit end the process, like SIGKILL
//	stop:scheduler/ticks-recorded:1   at the first visit stop it, until SIGCONT
//
// A name is a part of nextrun, and what has just happened there or comes next. Tests find
// the points in the source.
//
// Before it does so, the process writes a line "crashpoint: " and the name to standard
// error.
package crashpoint
