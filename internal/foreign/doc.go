// Package foreign is what the queues of other projects share. The kinds themselves are
// in package queues: each is one value, a [Spec], that says how to find its tables and
// their version, and makes the statements that add a batch of jobs, look up the open
// ones, cancel them and wake the workers, a [Shape]. This package runs them; it is the
// same for all kinds.
//
//	spec.go, batch.go      what a kind consists of, and the batch that its statements read
//	queue.go, cancel.go    Probe, Pending, Cancel
//	submit.go              Submit, which finds the rows that the database refuses
//	detect.go, report.go   the tables as they were last found, and what is wrong with them
//	audit.go               compares its jobs with the recorded ticks
//	relation.go            reads catalogs
//	statement.go, rows.go  running a statement, reading what it returns
//	user.go                statements that a user wrote
//	trigger.go             the trigger that ends a wait
//	names.go               identifiers, and checks of settings and jobs
package foreign
