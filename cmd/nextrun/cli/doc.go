// Package cli is the command line of nextrun: one file for each command, over
// [Run], which a test can call like main does.
//
// Commands print results on standard output, and errors and logs on standard
// error. The exit code is [Done], [Failed] or [WrongUsage]. Whatever a message
// says about a database, it never shows a password.
package cli
