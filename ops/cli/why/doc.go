// Package why is the command `nextrun why`, which explains the state of a task in
// one screen. Package diagnosis draws the conclusions, print.go writes them.
package why
