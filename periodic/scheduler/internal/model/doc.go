// Package model is a model of schedulers that work on one database, for its tests only.
//
// A state is the rows of the tables, the clock of the database, and what each scheduler
// process holds in memory. Actions are what a process, a user, a worker of jobs or the clock
// can do next. The tests visit the states, all of them up to a bound or random ones, and
// check the guarantees G1 to G4, G9 and G10 in each (docs/internals/model.md).
//
// The scheduler's part is the real code: package batch reads, decides and submits, with
// [periodic.Task.Decide]. Only the database is a model: database_test.go says in words what each
// statement of store/internal/tasks does. A test drives the same actions on the real
// databases and compares the rows.
//
// [periodic.Task.Decide]: https://pkg.go.dev/github.com/nextrun/nextrun/periodic#Task.Decide
package model
