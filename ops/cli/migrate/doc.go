// Package migrate holds the commands that make, upgrade and remove nextrun's tables.
package migrate
