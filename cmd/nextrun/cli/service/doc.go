// Package service holds the commands that run until they are stopped, and the way
// they start and end.
//
//	serve.go, scheduler.go, executor.go, relay.go  the commands
//	service.go       their flags, and how each part is made
//	startup.go       the stages of a start, in order, and the end in reverse order
//	stages.go        stages in general: up, down, health
//	health.go        nextrun health; healthserver.go answers it
//	running.go       counts the handlers that run
//	unhandled.go     warns of jobs that no handler of this process can run
package service
