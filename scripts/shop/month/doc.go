// Package month makes the database of a shop as it is after a month: forty tasks of all policies,
// jobs that fail, an outage, pauses, edits, hooks, events and a second queue.
//
// The scheduler, the tables, the hooks and the transitions of jobs are the real ones; only
// the clock and the handlers are not. The clock starts some days ago and ends now.
//
//	plan.go   the tasks, and how their jobs end
//	shop.go   the clock moves from one moment at which something happens to the next
//	days.go   what people do in that time
//	work.go   the jobs
//	tally.go  what the month was made of, to compare pages with
package month
