package tasks

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/sink"
)

// ended asks a queue about jobs, and returns those that have ended.
func (s Store) ended(ctx context.Context, a batch.AskEnds, jobs []awaited) (ended []awaited, err error) {
	open := make([]sink.Open, len(jobs))
	asked := make(map[string]*awaited, len(jobs))
	for i := range jobs {
		j := &jobs[i]
		open[i] = j.open()
		asked[string(j.JID)] = j
	}
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	var ends []sink.JobEnd
	teller, tells := a.Queue.(sink.EndTeller)
	err = s.db.ViewWithin(ctx, sqldb.BatchLockWait, func(tx *sqldb.Tx) error {
		if tells {
			ends, err = guarded(a.Sink, func() ([]sink.JobEnd, error) { return teller.Ends(ctx, tx.DBTX(), open) })
		} else {
			ends, err = stillOpen(ctx, tx.DBTX(), a.Sink, a.Queue, open)
		}
		return s.db.Classify(ctx, err)
	})
	if err != nil {
		return nil, err
	}
	ended, err = matched(a.Sink, ends, asked)
	if err != nil {
		return nil, err
	}
	for _, j := range asked {
		if tells {
			j.end = j.gone(teller.Gone())
		}
		ended = append(ended, *j)
	}
	return ended, nil
}

// matched are the jobs whose ends a queue reports. It takes all that the queue reports from those asked about.
func matched(name periodic.Sink, ends []sink.JobEnd, asked map[string]*awaited) (ended []awaited, err error) {
	for _, e := range ends {
		j, ok := asked[e.JID]
		if !ok {
			return nil, fmt.Errorf("queue %q reports the end of job %q, which it was not asked about", name, e.JID)
		}
		delete(asked, e.JID)
		if e.State == "" {
			continue
		}
		if !e.State.Valid() {
			return nil, fmt.Errorf("queue %q reports that job %q ended as %q; it can be success, failed, cancelled, gone or unknown", name, e.JID, e.State)
		}
		if e.State.Succeeded() {
			e.Error = "" // of an attempt before
		}
		j.end = e
		ended = append(ended, *j)
	}
	return ended, nil
}

// stillOpen are the jobs of a queue that does not tell how its jobs end which have not.
func stillOpen(ctx context.Context, tx jobqueue.DBTX, name periodic.Sink, queue sink.Submitter, open []sink.Open) (ends []sink.JobEnd, err error) {
	list, err := guarded(name, func() ([]sink.Pending, error) { return queue.Pending(ctx, tx, open) })
	for _, p := range list {
		ends = append(ends, sink.JobEnd{JID: p.JID})
	}
	return ends, err
}

// gone is how a job ended that its queue does not have any more: cancelled, if nextrun did that, or else as
// the queue says.
func (j *awaited) gone(otherwise sink.EndState) sink.JobEnd {
	e := sink.JobEnd{State: otherwise, Finished: j.Asked.Time()}
	if !e.Finished.IsZero() {
		e.State = sink.EndCancelled
	}
	if !e.State.Succeeded() {
		e.Error = "the queue does not have the job any more"
	}
	return e
}
