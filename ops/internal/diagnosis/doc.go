// Package diagnosis explains the state of a task: did it run, and if not, why? facts.go
// reads what there is to know, findings.go draws conclusions from it without a database.
// `nextrun why` and the dashboard show them.
package diagnosis
