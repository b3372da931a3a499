// Package find finds what a person means by a few characters: the beginning of the
// id of a task, a job or an event, another part of that of a job or an event, or an id as a
// narrow table shows it.
package find
