// Package drivers runs nextrun on pools of drivers that it does not use itself: pgx,
// and SQLite without cgo. It is a module of its own, so that nextrun does not depend
// on them.
package drivers
