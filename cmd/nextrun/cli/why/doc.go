// Package why is the command `nextrun why`, which explains the state of a task in
// one screen: facts.go reads what there is to know, diagnose.go draws conclusions
// from it, without a database, and print.go writes them.
package why
