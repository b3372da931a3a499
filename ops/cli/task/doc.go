// Package task holds the commands that manage periodic tasks.
//
//	task.go                 the group, and what its commands share
//	add.go, set.go, columnflags.go  one task by flags, one flag per column
//	apply.go, export.go     many tasks by a file
//	list.go                 what is there, and how it is doing
//	why.go, screen.go       all about one task, and why; story.go: about one tick
//	several.go              the tasks that a command is about
//	enable.go, pause.go, rm.go, run.go, backfill.go  what can be done with a task
package task
