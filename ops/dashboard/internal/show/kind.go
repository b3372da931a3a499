package show

// Kind is what a state means to whoever looks: good, bad (it failed), warn (it did not run),
// busy (it runs), wait, stop (somebody ended it), pause, or off (nothing happened, and nothing should have). It names a shape and
// a colour; docs/internals/dashboard.md shows them.
func Kind(state string) string {
	switch state {
	case "success", "up", "published":
		return "good"
	case "failed", "dead", "down", "blocked":
		return "bad"
	case "missed", "late", "overdue":
		return "warn"
	case "running", "scheduled":
		return "busy"
	case "cancelled":
		return "stop"
	case "paused":
		return "pause"
	case "waiting", "pending", "stuck", "retrying", "submitted": // nobody knows yet, or ever, how what was submitted ended
		return "wait"
	}
	return "off"
}
