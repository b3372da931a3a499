package jobqueue

import (
	"fmt"
)

// JobContext is the job as its handler sees it: the row, and what the handler
// may tell about it. It is safe for concurrent use; after the handler has
// returned its methods do nothing.
type JobContext struct {
	Job
	notes *notes
}

// Attempt is the number of this attempt: 1 for the first, one more after each
// error and each interruption.
func (c *JobContext) Attempt() int { return c.Retries + c.Interrupts + 1 }

// Log writes a line to the job log. Lines are written to the database in
// batches, in order, those of an attempt before its end is recorded. Log waits
// while too many lines are unwritten. Lines are cut at [MaxMessage] bytes.
func (c *JobContext) Log(level Level, message string) {
	c.notes.log(newLine(c.JID, level, message))
}

// Logf is [JobContext.Log] with a format as of [fmt.Sprintf].
func (c *JobContext) Logf(level Level, format string, args ...any) {
	c.Log(level, fmt.Sprintf(format, args...))
}

// SetProgress tells how far the job is, in percent; what is below 0 or above
// 100 counts as that.
func (c *JobContext) SetProgress(percent int) { c.notes.setProgress(min(max(percent, 0), 100)) }

// SetResult sets the message that the column result will hold if the handler
// returns nil.
func (c *JobContext) SetResult(message string) { c.notes.setResult(cleanMessage(message)) }
