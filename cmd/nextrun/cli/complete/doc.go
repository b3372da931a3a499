// Package complete proposes values when the user presses Tab: names of tasks, jobs,
// events, queues and locks from the database, and words that flags accept. It says
// nothing when the database cannot be asked. complete.go has the tables, sources.go
// where the values come from.
package complete
