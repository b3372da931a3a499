// Package plan has the pages of the dashboard that look at the timers of all tasks at once, or of
// none: the timeline, the heat map and the page of timers.
package plan
