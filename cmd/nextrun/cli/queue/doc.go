// Package queue holds the commands of `nextrun queue`, one in each file: they show
// and check the queues of the configuration that are not nextrun's own.
package queue
