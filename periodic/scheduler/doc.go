// Package scheduler submits the jobs of periodic tasks when they are due, and records what
// became of each tick. Any number of schedulers may work on one database.
//
// One goroutine owns the loop, and goes one way with every task, whether it is on time, late, set by hand or to be caught up: it
// reads what is due or will be soon, without locks; decides, which is a pure function; and writes, at the due time, over the rows that
// are as they were read. docs/internals/architecture.md, "The life of a tick", is the way through.
package scheduler
