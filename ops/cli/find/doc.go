// Package find finds what a person means by a few characters: the beginning of the
// id of a task, or a part of that of a job or an event, as a narrow table shows it.
package find
