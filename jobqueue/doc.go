// Package jobqueue is the queue that the scheduler of package periodic fills:
// jobs, their states, and an executor that runs them. It follows the model of
// Docspell's job executor: jobs belong to groups that are served in turn, have
// one of two priorities, are retried through the state stuck, report progress
// and write a log.
//
// The package has no SQL; package store implements the interfaces it declares.
package jobqueue
