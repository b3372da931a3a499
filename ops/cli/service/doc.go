// Package service holds the commands that run until they are stopped, and the way
// they start and end.
//
//	serve.go, scheduler.go, executor.go, relay.go  the commands
//	service.go       their flags, and how each part is made
//	startup.go       the stages of a start, in order; package ops/lifecycle has the rest
//	hooks.go, pruning.go, queues.go, web.go  parts that a process may have
//	health.go        nextrun health
//	running.go       counts the handlers that run
//	unhandled.go     warns of jobs that no handler of this process can run
package service
