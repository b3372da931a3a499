// Package replay runs the scheduler through time, on a database of its own whose clock the
// caller moves. The scheduler, the tables and their triggers are the real ones; only the
// time is not. Nothing waits: a year of a daily task takes as long as 365 rounds of the
// scheduler.
//
// Package nextruntest builds on it. `nextrun simulate` does not: it uses the faster internal/simulate,
// which needs no database to replay on.
package replay
