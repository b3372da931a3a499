// Package event holds the commands about the events of the outbox, one per file;
// event.go has the group and the JSON form.
package event
