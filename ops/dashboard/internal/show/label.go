package show

// labels are what forms call the columns of a task.
var labels = map[string]string{
	"id": "Name", "handler": "Handler", "timer": "Timer", "summary": "What it is for", "enabled": "Enabled", "group": "Group", "args": "Arguments",
	"subject": "Subject of jobs", "submitter": "Submitter of jobs", "priority": "Priority", "starts": "Not before", "ends": "Not from then on",
	"exclude_calendars": "Not on days of", "overlap": "If the last job still runs", "catchup": "After an outage, run", "grace": "Catch up if at most this late",
	"deadline": "Too late after", "catchup_limit": "Catch up at most", "jitter": "Delay by up to", "sink": "Queue", "pause_after": "Pause after failures in a row",
	"retry_limit": "Retries", "retry_delay": "Wait before the first retry", "timeout": "Stop an attempt after",
}

// Label is what a form calls a column of a task; one that it does not know has its name.
func Label(column string) string {
	if label := labels[column]; label != "" {
		return label
	}
	return column
}
