// Package task is what a periodic task is, and what becomes of its ticks. It does
// no I/O and reads no clock.
//
// A [Task] is a row of periodic_task, a [Tick] a row of periodic_tick. [Decide]
// makes a [Plan] of a task and what is known about it: which ticks to submit, skip
// or queue, and when the task is due next. [Task.Validate] finds what is wrong
// with a task, [Task.Upcoming] and [Preview] say when it ticks.
package task
