// Package plan has the page of the dashboard that looks at the timers of all tasks at once: the timeline.
package plan
