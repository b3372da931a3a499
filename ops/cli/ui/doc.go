// Package ui is what all commands share: how they read flags, variables and the
// database, and how they write.
//
//	env.go       the streams, variables and clock that a command works with
//	usage.go     wrong usage, exit codes, how errors read
//	command.go   groups of commands and the number of their arguments
//	flags.go     flags that hold a time, a duration, an age, one of a few words
//	settings.go  database, configuration file, name of this instance
//	output.go    tables and other texts that are safe for a terminal
//	input.go     texts from files and standard input
//	json.go      JSON, for programs
//	times.go     times and durations for people
//	watch.go     lists that are written again and again
//	logging.go   log lines on standard error
//	signals.go   SIGINT, SIGTERM, SIGHUP and the way to an orderly end
//
// It knows no command; the packages beside it know this one.
package ui
