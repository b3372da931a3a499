package show

// Kind is what a state means to whoever looks: good, bad (it failed), warn (it did not run),
// busy (it runs), wait, or off (nothing happened, and nothing should have). It names a shape and
// a colour; docs/internals/dashboard.md shows them.
func Kind(state string) string {
	switch state {
	case "success", "up", "published", "submitted", "ok":
		return "good"
	case "failed", "dead", "down", "problem":
		return "bad"
	case "missed", "late", "overdue":
		return "warn"
	case "running", "scheduled":
		return "busy"
	case "waiting", "queued", "pending", "stuck", "retrying":
		return "wait"
	}
	return "off"
}
