// Package scheduler submits the jobs of periodic tasks when they are due, and records what
// became of each tick. Any number of schedulers may work on one database.
//
// One goroutine owns the loop, and does one duty after the other: it submits what is due,
// prepares what is due soon, and leaves out what fails, so that no row keeps others from their
// time. Package search finds what that is, package aside remembers it. docs/internals/architecture.md, "The life of a
// tick", is the way through.
package scheduler
