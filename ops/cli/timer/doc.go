// Package timer holds `nextrun next`, about one timer, and `nextrun preview`,
// about those of all tasks. [PrintElapses] and [BadTimer] show elapses and errors
// of timers elsewhere, too.
package timer
