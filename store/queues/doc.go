// Package queues has the job queues of other projects that periodic tasks can feed, in a
// database that holds both: [River], [GraphileWorker], [PgBoss], [PGMQ], and [SQL] for
// any queue whose statements you write yourself. [Open] makes one of these values a
// queue of the scheduler:
//
//	river, err := queues.Open(db, queues.River{Queue: "default"})
//	cfg := scheduler.Config{Submitters: periodic.Submitters{"river": river}}
//
// and let a task use it: UPDATE periodic_task SET sink = 'river'.
//
//	kind.go, names.go                      what a program sees; checks of settings
//	river.go, graphile.go, pgboss.go, ...  a file for each kind: its settings, and its preset
//	preset.go                              what a preset consists of: SQL texts and a batch
//	submit.go, open.go                     run the statements of any preset
//	check.go                               runs them over no rows, and shows what the database says
package queues
