// Package ui is what all commands share: how they read flags, variables and the
// database, and how they write.
//
//	env.go       the streams, variables and clock that a command works with
//	usage.go     wrong usage, exit codes, how errors read
//	command.go   groups of commands and the number of their arguments
//	flagtypes.go flags that hold a time, a duration, an age, one of a few words
//	when.go      times as people write and read them
//	columnflags.go  flags of the columns of a row
//	settings.go  database, configuration file, name of this instance
//	queues.go    queues of the configuration; notify.go: who is told of new jobs
//	table.go     lists; output.go: other texts that are safe for a terminal
//	json.go      JSON, for programs; the columns of a row
//	logging.go   log lines on standard error
//
// It knows no command; the packages beside it know this one.
package ui
