// Package queues holds the kinds of job queues of other projects that periodic
// tasks can feed, in a database that holds both: [River], [GraphileWorker],
// [PgBoss], [PGMQ], and [SQL] for any queue whose statements you write
// yourself. Give one of these values to the method Queue of package store:
//
//	river, err := db.Queue(queues.River{Queue: "default"})
//	cfg := periodic.Config{Submitters: map[periodic.Sink]periodic.Submitter{"river": river}}
//
// and let a task use it: UPDATE periodic_task SET sink = 'river'.
//
// A kind is one value, a [spec]: how to find its tables and their version, and the
// statements that add a batch of jobs, look up the open ones, cancel them and wake
// the workers. queue.go runs these statements; it is the same for all kinds.
//
//	kind.go, report.go     what programs see
//	spec.go, batch.go      what a kind consists of, and the batch that its statements read
//	queue.go, cancel.go    Probe, Pending, Cancel
//	submit.go              Submit, which finds the rows that the database refuses
//	detect.go              the tables as they were last found; relation.go reads catalogs
//	statement.go, rows.go  running a statement, reading what it returns
//	trigger.go             the trigger that ends a wait
//	names.go               identifiers, and checks of settings and jobs
//	sql.go, river.go, ...  the kinds
package queues
