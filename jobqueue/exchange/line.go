package exchange

import (
	"strconv"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
)

// Line is a line of the job log.
type Line struct {
	ID      string // unique; a line that is there already is not written again
	JID     string
	Level   jobqueue.Level
	Message string
	Age     time.Duration // how long ago it was written
}

// NewLine makes a line that both databases can hold.
func NewLine(jid string, level jobqueue.Level, message string) Line {
	return Line{ID: jobqueue.NewID(), JID: jid, Level: level, Message: text.Clean(message, jobqueue.MaxMessage)}
}

// Begins are the lines of the attempts with which a claim began its jobs.
func (r Result) Begins(worker string) (lines []Line) {
	for _, job := range r.Claimed {
		if job.State == jobqueue.Running {
			lines = append(lines, NewLine(job.JID, jobqueue.Info, "attempt "+strconv.Itoa(job.Attempt())+" begins on "+worker))
		}
	}
	return lines
}
