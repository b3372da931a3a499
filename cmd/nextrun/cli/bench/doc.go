// Package bench is the command `nextrun bench`.
package bench
