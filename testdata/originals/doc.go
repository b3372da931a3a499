// Package originals compares imported schedules with the programs that they come from:
// the same schedules are given to nextrun and to systemd, cron, pg_cron and the library
// of Kubernetes, and must be refused alike and elapse at the same times. What differs is
// written down in docs/import.md, and the tests say how much it is.
//
// It runs the programs themselves. cron and pg_cron have no dry run, so a library that is
// loaded in front of the C library (clock/clock.c) gives them a clock that runs through
// days in seconds, and notes which command they would start.
package originals
