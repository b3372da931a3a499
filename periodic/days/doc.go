// Package days says on which days tasks do not run: calendars, such as public holidays, and single ticks that people
// leave out.
package days
