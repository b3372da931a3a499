// Package tick holds the command that lists ticks, and [Ticks], which shows them
// there and in `nextrun task show`.
package tick
