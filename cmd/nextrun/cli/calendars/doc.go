// Package calendars holds the commands for calendars: days on which tasks run, or do not.
package calendars
