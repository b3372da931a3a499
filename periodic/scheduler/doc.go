// Package scheduler submits the jobs of periodic tasks when they are due, and records what
// became of each tick. Any number of schedulers may work on one database.
//
// One goroutine owns the [loop]. Its rounds prepare what is due soon, submit what is due,
// and leave out what fails, so that no row keeps others from their time; package search
// finds what that is, package aside remembers it. docs/internals/architecture.md, "The life of a
// tick", is the way through.
package scheduler
