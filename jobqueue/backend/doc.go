// Package backend is what package jobqueue needs of a database: the types that
// a queue and an executor exchange with a store, and the interfaces that the
// store implements. Package store has the implementation, [Store] and
// [QueueStore] are its contract.
//
// Programs that embed nextrun do not need this package: jobqueue has names of
// its own for the types that they use, such as jobqueue.Job.
//
// An executor sends a [Request] and gets a [Result]. Both are plain data.
package backend
