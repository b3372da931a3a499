// Package jobs keeps the jobs, their logs, and whose turn it is, in the tables
// job, joblog, jobgroupuse and job_limit: for executors and for those who submit,
// watch and change jobs.
package jobs

import (
	"context"
	"encoding/json"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/store/internal/workers"
)

// Store is the queue of a database, for executor.New and
// jobqueue.NewQueue. It is safe for concurrent use.
type Store struct{ db *sqldb.DB }

var _ jobqueue.QueueStore = Store{}

// New returns the queue of a database.
func New(db *sqldb.DB) Store { return Store{db} }

// Update implements [jobqueue.QueueStore].
func (s Store) Update(ctx context.Context, fn func(jobqueue.QueueTx) error) error {
	return s.db.Update(ctx, func(tx *sqldb.Tx) error {
		tx.Changes(sqldb.TopicJobs, sqldb.TopicTasks)
		return fn(jobTx{tx})
	})
}

// View implements [jobqueue.QueueStore].
func (s Store) View(ctx context.Context, fn func(jobqueue.QueueTx) error) error {
	return s.db.View(ctx, func(tx *sqldb.Tx) error { return fn(jobTx{tx}) })
}

// Join implements [jobqueue.QueueStore].
func (s Store) Join(ctx context.Context, outer jobqueue.DBTX) (jobqueue.QueueTx, error) {
	tx, err := s.db.Join(ctx, outer)
	return jobTx{tx}, err
}

// WatchJobs implements executor.Store.
func (s Store) WatchJobs(ctx context.Context, wake func(), report func(error)) {
	s.db.Watch(ctx, wake, report, sqldb.TopicJobs)
}

// Beat implements executor.Store.
func (s Store) Beat(ctx context.Context, e exchange.Service, seen map[string]int64) (map[string]int64, error) {
	handlers, _ := json.Marshal(e.Handlers) // of texts and numbers
	of := workers.Worker{ID: e.Worker, Kind: "executor", Places: e.Places, Handlers: string(handlers)}
	if len(e.Groups) > 0 {
		groups, _ := json.Marshal(e.Groups)
		of.OnlyGroups = string(groups)
	}
	return workers.Beat(ctx, s.db, of, seen)
}

// Leave implements executor.Store.
func (s Store) Leave(ctx context.Context, worker string) error {
	return workers.Leave(ctx, s.db, workers.Worker{ID: worker, Kind: "executor"})
}

// jobTx are the operations on jobs inside a transaction, for those who submit,
// watch and change them. What only executors do is in [workTx] and [claimTx].
type jobTx struct{ *sqldb.Tx }
