// Package check holds `nextrun check` and `nextrun status`: check.go looks at the configuration,
// database.go at the database, queues.go at the queues that are not nextrun's own,
// tasks.go at the tasks.
package check
