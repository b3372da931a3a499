// Package own is the command `bench own`: it measures nextrun on a database of the user's.
package own
