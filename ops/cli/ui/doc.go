// Package ui is what all commands share: how they read flags, variables and the
// database, and how they write.
//
//	env.go                    the streams, variables and clock that a command works with
//	usage.go                  wrong usage, exit codes, how errors read
//	command.go                groups of commands and the number of their arguments
//	flags.go, when.go         flags that hold a time, a duration, an age, one of a few words
//	select.go                 flags of lists
//	columns.go                columns of rows as flags (columnflags.go), as text and as JSON
//	settings.go               database, configuration file, name of this instance
//	queues.go, notify.go      queues of the configuration, and who hears of new jobs
//	output.go, table.go       texts and tables that are safe for a terminal (terminal.go)
//	json.go, times.go         JSON, for programs; times and durations, for people
//	logging.go, shortlog.go   log lines on standard error, shorter ones on a terminal
//	signals.go                SIGINT, SIGTERM, SIGHUP and the way to an orderly end
//
// It knows no command; the packages beside it know this one.
package ui
