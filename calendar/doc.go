// Package calendar says when a timer elapses.
//
// A timer is a text in one of three notations. [Parse] recognizes the notation and compiles the timer
// to a [Schedule], which answers two questions: when is the next elapse after a time, and when was the
// last one before a time. A schedule is a set of instants: its answers do not depend on earlier
// questions, on the machine's clock, or on its zone. The zero [time.Time] means never. The package
// needs no database, no goroutine and no configuration.
//
//	*-*-* 02:00 Europe/Berlin                   calendar event: at 02:00 every day
//	30 4 * * 1-5                                cron expression: at 04:30 on weekdays
//	every 36h from 2026-01-31T02:00:00Z         interval
//	never                                       no times: for tasks that are run by hand or by a hook
//
// docs/timers.md describes the notations, and what happens when clocks change. Parsing, Next and Prev
// take constant time of well below a millisecond for every timer, however hostile.
package calendar
