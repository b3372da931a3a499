// Package cli is the command line of nextrun: [Run], which main and tests call.
//
// Packages have a file for each command, or for a few of them:
//
//	task/     nextrun task add, apply, list, ...: the rows of periodic_task
//	rows/     nextrun tick, job, event and lock: the rows that nextrun writes; lists, and ids by a few characters
//	imports/  nextrun import: files of other programs for task apply
//	timer/    nextrun next and preview: when something elapses
//	service/  nextrun serve, scheduler, executor, relay, dashboard: what runs until it is stopped; health
//	check/    nextrun check and status
//	migrate/  nextrun migrate up, down, status
//	ui/       what they share: flags, settings, tables, times, log lines
//
// Here are the commands without a noun (version, help), and what all commands get: run.go
// times in a zone and exit codes, help.go help texts, complete.go values for the Tab key.
//
// Commands print results on standard output, and errors and logs on standard
// error. No message shows a database's password.
package cli
