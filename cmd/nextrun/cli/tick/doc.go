// Package tick holds the command that lists ticks, and [Print], which shows them
// there and in `nextrun task show`.
package tick
