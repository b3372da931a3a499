// Package service holds the commands that run until they are stopped, and the way
// they start and end.
//
//	commands.go  the commands, and which services each has
//	service.go   their flags, and how each service is made
//	startup.go   the stages of a start, in order; package ops/lifecycle has the rest
//	signals.go   SIGINT, SIGTERM and the way to an orderly end; SIGHUP
//	hooks.go, web.go  parts that a process may have
//	health.go    nextrun health
package service
