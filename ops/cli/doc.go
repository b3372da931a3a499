// Package cli is the command line of nextrun: [Run], which main and tests call.
//
// There is a package for each noun, and in it a file for each command:
//
//	task/     nextrun task add, apply, list, ...: the rows of periodic_task
//	tick/     nextrun tick list: what became of ticks
//	job/      nextrun job list, log, cancel, ...
//	event/    nextrun event list, resend: the outbox
//	lock/     nextrun lock show, release: the lock of the modes leader and exclusive
//	imports/  nextrun import: files of other programs for task apply
//	timer/    nextrun next and preview: when something elapses
//	service/  nextrun serve, scheduler, executor, relay, dashboard: what runs until it is stopped; health
//	check/    nextrun check and status
//	migrate/  nextrun migrate up, down, status
//	find/     tasks, jobs and events by a few characters
//	ui/       what they share: flags, settings, tables, times, log lines
//
// Here are the commands without a noun (version, help), and what all commands get: run.go
// times in a zone and exit codes, help.go help texts, complete.go values for the Tab key.
//
// Commands print results on standard output, and errors and logs on standard
// error. No message shows a database's password.
package cli
