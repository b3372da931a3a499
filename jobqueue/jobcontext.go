package jobqueue

import (
	"fmt"

	"github.com/nextrun/nextrun/jobqueue/backend"
)

// JobContext is the job as its handler sees it: the row, and ways to report on
// it. It is safe for concurrent use; after the handler has
// returned its methods do nothing.
type JobContext struct {
	Job
	log *logBuffer
}

// Log writes a line to the job log. Lines are written to the database in
// batches, in order, those of an attempt before its end is recorded. Log waits
// while too many lines are unwritten. Lines are cut at [MaxMessage] bytes.
// Of an attempt at most [MaxLogLines] lines and about [MaxLogBytes] bytes are kept;
// a last line says how many were left out.
func (c *JobContext) Log(level Level, message string) {
	c.log.log(backend.NewLine(c.JID, level, message))
}

// Logf is [JobContext.Log] with a format as of [fmt.Sprintf].
func (c *JobContext) Logf(level Level, format string, args ...any) {
	c.Log(level, fmt.Sprintf(format, args...))
}

// SetProgress reports how far the job is, in percent; what is below 0 or above
// 100 counts as that.
func (c *JobContext) SetProgress(percent int) { c.log.setProgress(min(max(percent, 0), 100)) }

// SetResult sets the message that the column result will hold if the handler
// returns nil.
func (c *JobContext) SetResult(message string) { c.log.setResult(backend.CleanMessage(message)) }
