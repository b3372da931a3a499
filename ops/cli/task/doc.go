// Package task holds the commands that manage periodic tasks.
//
//	task.go              the group, and what its commands share
//	list.go              what is there, and how it is doing
//	show.go, screen.go   all about one task, and why, or about one tick
//	add.go, set.go       one task by flags, one flag for each column; upcoming.go: when it elapses then
//	apply.go, export.go  many tasks by a file
//	change.go, skip.go, run.go, backfill.go  what can be done with tasks
package task
