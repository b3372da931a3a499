// Package check holds `nextrun check`: check.go looks at the configuration,
// database.go at the database, tasks.go at the tasks.
package check
