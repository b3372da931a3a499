// Package elapse computes the instants at which a compiled timer elapses.
//
// A [Set], of calendar events and cron expressions, is a timetable on a wall clock (days from a
// [DateRule], times of day from a [Clock]) in a [Zone]. An [Interval] counts from its anchor. Both
// answer Next and Prev without allocating and without walking: sets of days, hours and minutes are
// bit sets, and the offsets of a zone are tabulated once.
//
// The package reads no text: package calendar parses timers, package explain describes
// what they were compiled to.
package elapse
