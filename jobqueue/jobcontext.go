package jobqueue

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/internal/text"
)

// JobContext is the job as its handler sees it: the row, and ways to report on
// it. It is safe for concurrent use; after the handler has
// returned its methods do nothing.
//
// To test a handler without an executor, call it with one of [NewJobContext]. The zero
// value works too, and drops what the handler says.
type JobContext struct {
	Job
	to Reporter
}

// Reporter takes what a handler says about its job. Its methods are safe for concurrent use.
type Reporter interface {
	Log(level Level, message string)
	SetProgress(percent int) // 0 to 100
	SetResult(message string)
	// Complete is [CompleteTx] for the job.
	Complete(ctx context.Context, tx DBTX) error
}

// Level is how much a line of the job log matters.
type Level string

// The levels, as the table joblog has them.
const (
	Debug Level = "debug"
	Info  Level = "info"
	Warn  Level = "warn"
	Error Level = "error"
)

// known is the level, or info if it is none.
func (l Level) known() Level {
	switch l {
	case Debug, Info, Warn, Error:
		return l
	}
	return Info
}

// Report returns the context of a job whose handler reports to somebody: executors call it.
func Report(job Job, to Reporter) *JobContext { return &JobContext{Job: job, to: to} }

// NewJobContext returns a context for tests of handlers. It needs no database, and
// [JobContext.Record] has what the handler said.
func NewJobContext(job Job) *JobContext { return Report(job, &recorder{}) }

// Record is what a handler has said about its job.
type Record struct {
	Lines    []LogLine // the first [MaxLogLines]; Counter counts from 1
	Progress int       // percent
	Result   string
	// Completed says that the handler called [CompleteTx].
	Completed bool
}

// Record returns what the handler has said so far. Use it in tests, with a context of
// [NewJobContext]: an executor writes lines to the database, and those are gone then.
func (c *JobContext) Record() Record {
	if r, ok := c.to.(*recorder); ok {
		return r.record()
	}
	return Record{}
}

// Log writes a line to the job log. It does not wait: lines are written to the database in
// batches, in order, those of an attempt before its end is recorded. Lines are cut at [MaxMessage] bytes.
// Of an attempt at most [MaxLogLines] lines and about [MaxLogBytes] bytes are kept;
// a last line says how many were left out.
func (c *JobContext) Log(level Level, message string) {
	if c.to != nil {
		c.to.Log(level.known(), message)
	}
}

// Logf is [JobContext.Log] with a format as of [fmt.Sprintf].
func (c *JobContext) Logf(level Level, format string, args ...any) {
	c.Log(level, fmt.Sprintf(format, args...))
}

// SetProgress reports how far the job is, in percent; what is below 0 or above
// 100 counts as that.
func (c *JobContext) SetProgress(percent int) {
	if c.to != nil {
		c.to.SetProgress(min(max(percent, 0), 100))
	}
}

// SetResult sets the message that the column result will hold if the handler
// returns nil.
func (c *JobContext) SetResult(message string) {
	if c.to != nil {
		c.to.SetResult(text.Clean(message, MaxMessage))
	}
}

// CompleteTx ends a job as a success in a transaction of its handler on the database of the
// queue: what the handler has written there and the end of the job are committed together, or
// neither is. So the effects happen once, however often the job is run, whatever crashes. Call it last,
// commit, and return:
//
//	tx, err := db.BeginTx(ctx, nil)
//	if err != nil {
//		return err
//	}
//	defer tx.Rollback()
//	// ... the work, in tx ...
//	if err := jobqueue.CompleteTx(ctx, tx, job); err != nil {
//		return err
//	}
//	return tx.Commit()
//
// It returns an error that wraps [ErrLeaseLost] if the job is no longer that of this attempt: roll
// back then, since another attempt does the work. An error of the handler after the commit is
// logged, and changes nothing. If the transaction was not committed, the attempt counts as failed, even if
// the handler returns nil. What the job logged and nobody has written yet is written after the commit.
//
// A transaction on another database than the queue's finds no such job. What the handler does outside
// the transaction may happen more than once. A context of [NewJobContext] only records the call.
func CompleteTx(ctx context.Context, tx DBTX, job *JobContext) error {
	if job.to == nil {
		return nil
	}
	return job.to.Complete(ctx, tx)
}
