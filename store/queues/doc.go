// Package queues holds the kinds of job queues of other projects that periodic
// tasks can feed, in a database that holds both: [River], [GraphileWorker],
// [PgBoss], [PGMQ], and [SQL] for any queue whose statements you write
// yourself. [Open] makes one of these values a queue of the scheduler:
//
//	river, err := queues.Open(db, queues.River{Queue: "default"})
//	cfg := scheduler.Config{Submitters: periodic.Submitters{"river": river}}
//
// and let a task use it: UPDATE periodic_task SET sink = 'river'.
//
// A kind is one value: how to find its tables and their version, and the statements
// that add a batch of jobs, look up the open ones, cancel them and wake the workers.
// Each has a file of its own, or several: its settings (river.go), how its tables are
// found (_detect.go) and its statements (_sql.go). Package internal/foreign runs
// the statements; it is the same for all kinds.
package queues
