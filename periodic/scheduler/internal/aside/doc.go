// Package aside remembers what the scheduler leaves out of its batches, and when to
// try it again: tasks that fail alone, sinks that cannot be used, and queued ticks
// while nobody can tell which of them can go ahead.
//
// Its values belong to one goroutine.
package aside
