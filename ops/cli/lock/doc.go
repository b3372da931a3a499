// Package lock holds the commands that show and release the lock of the modes
// leader and exclusive.
package lock
