package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Queue is an opened queue: a submitter of periodic tasks that can say how it finds
// its tables.
type Queue interface {
	sink.Submitter
	Inspector
	// Heeds are those columns of a task that reach its jobs, among priority,
	// retry_limit, retry_delay and timeout.
	Heeds() []string
}

// Inspector says whether a queue can be used, and what it lacks.
type Inspector interface {
	// Inspect looks at the tables of the queue. It changes nothing. What is wrong
	// with the queue is in the report; an error means that the database could not
	// be asked.
	Inspect(ctx context.Context) (Report, error)
}

// queue is a queue of any kind that cannot cancel jobs. It is safe for concurrent
// use.
type queue struct {
	db    *sqldb.DB
	spec  Spec
	known known
}

// Queues that can cancel jobs, and those that tell how their jobs ended.
type (
	cancelling struct{ *queue }
	telling    struct{ *queue }
	both       struct {
		*queue
		cancelling
		telling
	}
)

// New returns the queue of a kind in a database.
func New(db *sqldb.DB, s Spec) Queue {
	q := &queue{db: db, spec: s}
	switch {
	case s.Cancels && s.Tells:
		return both{q, cancelling{q}, telling{q}}
	case s.Cancels:
		return cancelling{q}
	case s.Tells:
		return telling{q}
	}
	return q
}

// CopiesArgs implements [sink.ArgsCopier].
func (q *queue) CopiesArgs() {}

// Heeds implements [Queue].
func (q *queue) Heeds() []string { return q.spec.Heeds }

// Probe implements [sink.Prober]: it lets the database plan the insert, which
// checks tables, columns and rights, and waits for locks of the table.
func (q *queue) Probe(ctx context.Context, outer jobqueue.DBTX) error {
	tx := q.db.In(outer, time.Time{})
	q.known.forget()
	found, err := q.shape(ctx, tx)
	if err != nil {
		return err
	}
	if found.Part != nil { // its tables are known only with a job
		return nil
	}
	return q.wrap(saved(ctx, tx, func() error {
		none, err := batch(q.db, found.Columns, nil)
		if err != nil {
			return err
		}
		return plan(ctx, tx, found.Insert, none)
	}))
}

// Pending implements [sink.Submitter].
func (q *queue) Pending(ctx context.Context, outer jobqueue.DBTX, open []sink.Open) ([]sink.Pending, error) {
	if len(open) == 0 {
		return nil, nil
	}
	var pending []sink.Pending
	err := q.ask(ctx, outer, open, func(s *Shape) Statement { pending = nil; return s.Pending }, func(o sink.Open, row row) {
		p := sink.Pending{JID: o.JID, Due: o.Due, State: jobqueue.Waiting, Started: row.time("started")}
		if state := jobqueue.State(row.text("state")); state.Valid() {
			p.State = state
		}
		pending = append(pending, p)
	})
	return pending, err
}

// Gone implements [sink.EndTeller].
func (q telling) Gone() sink.EndState { return cmp.Or(q.spec.Gone, sink.EndUnknown) }

// Ends implements [sink.EndTeller].
func (q telling) Ends(ctx context.Context, outer jobqueue.DBTX, open []sink.Open) ([]sink.JobEnd, error) {
	if len(open) == 0 {
		return nil, nil
	}
	var ends []sink.JobEnd
	err := q.ask(ctx, outer, open, func(s *Shape) Statement { ends = nil; return s.Ends }, func(o sink.Open, row row) {
		ends = append(ends, sink.JobEnd{
			JID: o.JID, State: sink.EndState(row.text("outcome")), Finished: row.time("finished"), Attempts: row.number("attempts"), Error: row.text("error"),
		})
	})
	return ends, err
}

// ask runs a statement over open jobs and calls each with those that it returns. of begins anew
// if the tables had to be looked at again.
func (q *queue) ask(ctx context.Context, outer jobqueue.DBTX, open []sink.Open, of func(*Shape) Statement, each func(sink.Open, row)) error {
	tx := q.db.In(outer, time.Time{})
	return q.with(ctx, tx, func(found *Shape, justLooked bool) error {
		parts, err := found.sortOpen(open, justLooked)
		if err != nil {
			return err
		}
		return q.overOpen(ctx, tx, of(found), parts, each)
	})
}

// errUnknownPart means that the tables have to be looked at again.
var errUnknownPart = errors.New("an open job is in a queue that did not exist when the tables were looked at")

// sortOpen returns open jobs by the part that they are in, with their references
// there. It leaves out those that cannot be in the queue. Unless the tables have just
// been looked at, an unknown part may be a new one. A part that is there and cannot be
// used is an error, since nobody knows whether its jobs are final.
func (s *Shape) sortOpen(open []sink.Open, justLooked bool) (map[string][]sink.Open, error) {
	parts := map[string][]sink.Open{}
	for _, o := range open {
		if s.IsRef != nil && !s.IsRef(o.Ref) {
			continue
		}
		part := ""
		if s.RefPart != nil {
			part, o.Ref = s.RefPart(o.Ref)
			if !s.Parts[part] {
				if !justLooked {
					return nil, errUnknownPart
				}
				if reason, passing := s.NoPart(part); passing { // its jobs may be unfinished
					return nil, fmt.Errorf("%w: %s", ErrUnusable, reason)
				}
				continue
			}
		}
		parts[part] = append(parts[part], o)
	}
	return parts, nil
}

// overOpen runs a statement over open jobs and calls each with those whose
// reference, or jid, it returns.
func (q *queue) overOpen(ctx context.Context, tx *sqldb.Tx, s Statement, parts map[string][]sink.Open,
	each func(sink.Open, row), more ...any,
) error {
	for part, list := range parts {
		rows, err := q.readOpen(ctx, tx, s, part, list, more...)
		if err != nil {
			return err
		}
		byRef, byJID := make(map[string]sink.Open, len(list)), make(map[string]sink.Open, len(list))
		for _, o := range list {
			byRef[o.Ref], byJID[o.JID] = o, o
		}
		for _, row := range rows.list {
			o, ok := byRef[row.text("ref")]
			if row["ref"] == nil {
				o, ok = byJID[row.text("jid")]
			}
			if ok {
				delete(byRef, o.Ref)
				delete(byJID, o.JID)
				each(o, row)
			}
		}
	}
	return nil
}

// readOpen runs a statement over open jobs of one part.
func (q *queue) readOpen(ctx context.Context, tx *sqldb.Tx, s Statement, part string, open []sink.Open, more ...any) (result, error) {
	r, err := q.db.Records(1, OpenFields, len(open), func(i int) []any {
		o := open[i]
		return []any{o.Ref, o.JID, o.TaskID, o.Due, o.Submitted}
	})
	if err != nil {
		return result{}, err
	}
	return query(ctx, tx, s, part, r, more...)
}

// OpenFields are the columns of open jobs that statements read.
var OpenFields = []sqldb.Field{
	sqldb.Text("ref"), sqldb.Text("jid"), sqldb.Text("task_id"), sqldb.Time("due"), sqldb.Time("submitted"),
}
