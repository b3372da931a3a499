// Package backend is what package periodic asks of a database. Package store
// implements it; programs need it only to feed a queue of their own, by a
// [Submitter].
//
// [Store] and [Tx] serve the scheduler: it looks for work with Peek, and in
// transactions locks tasks with Claim, and writes its decisions with Advance and Record.
// [TaskStore] and [TaskTx] serve those who manage tasks.
package backend
