// Package rows holds the commands about the rows that nextrun writes, which are ticks, jobs, events and locks, and
// what commands about rows have in common.
//
//	list.go    a list is a value: what it reads, and what it shows of a row; several rows that are changed one after another
//	find.go    tasks, jobs and events by a part of their ids
//	tick.go    nextrun tick list, and what became of a tick in a word
//	job.go     nextrun job: joblist.go, jobshow.go and joblog.go look, jobchange.go, jobsubmit.go and joblimit.go change
//	event.go   nextrun event; lock.go: nextrun lock
package rows
