package queues

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/task"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// queue is a queue of any kind that cannot cancel jobs. It is safe for concurrent
// use.
type queue struct {
	db    *sqldb.DB
	spec  spec
	known known
}

// cancelling is a queue that can.
type cancelling struct{ *queue }

func newQueue(db *sqldb.DB, s spec) Queue {
	q := &queue{db: db, spec: s}
	if s.cancels {
		return cancelling{q}
	}
	return q
}

// CopiesArgs implements [backend.ArgsCopier].
func (q *queue) CopiesArgs() {}

// Probe implements [backend.Prober]: it lets the database plan the insert, which
// checks tables, columns and rights, and waits for locks of the table.
func (q *queue) Probe(ctx context.Context, outer jobqueue.DBTX) error {
	tx := q.db.In(outer, time.Time{})
	q.known.forget()
	found, err := q.shape(ctx, tx)
	if err != nil {
		return err
	}
	if found.part != nil { // its tables are known only with a job
		return nil
	}
	return saved(ctx, tx, func() error {
		none, err := batch(q.db, found.columns, nil)
		if err != nil {
			return err
		}
		_, err = query(ctx, tx, explained(found.insert), "", none)
		return err
	})
}

// Pending implements [backend.Submitter].
func (q *queue) Pending(ctx context.Context, outer jobqueue.DBTX, open []backend.Open) ([]task.Pending, error) {
	if len(open) == 0 {
		return nil, nil
	}
	tx := q.db.In(outer, time.Time{})
	var pending []task.Pending
	err := q.with(ctx, tx, func(found *shape) error {
		pending = nil
		return q.overOpen(ctx, tx, found, found.pending, open, func(o backend.Open, row row) {
			p := task.Pending{JID: o.JID, Due: o.Due, State: jobqueue.Waiting, Started: row.time("started")}
			if state := jobqueue.State(row.text("state")); state.Valid() {
				p.State = state
			}
			pending = append(pending, p)
		})
	})
	return pending, err
}

// overOpen runs a statement over open jobs and calls each with those whose
// reference it returns.
func (q *queue) overOpen(ctx context.Context, tx *sqldb.Tx, found *shape, s statement, open []backend.Open,
	each func(backend.Open, row), more ...any,
) error {
	parts := map[string][]backend.Open{}
	for _, o := range open {
		if found.isRef != nil && !found.isRef(o.Ref) {
			continue
		}
		part, inPart := "", o.Ref
		if found.refPart != nil {
			if part, inPart = found.refPart(o.Ref); !identifier.MatchString(part) {
				continue
			}
		}
		o.Ref = inPart
		parts[part] = append(parts[part], o)
	}
	for part, list := range parts {
		byRef := make(map[string]backend.Open, len(list))
		for _, o := range list {
			byRef[o.Ref] = o
		}
		fields := []sqldb.Field{sqldb.Text("ref"), sqldb.Text("jid")}
		r, err := q.db.Records(1, fields, len(list), func(i int) []any { return []any{list[i].Ref, list[i].JID} })
		if err != nil {
			return err
		}
		rows, err := query(ctx, tx, s, part, r, more...)
		if err != nil {
			return err
		}
		for _, row := range rows.list {
			if o, ok := byRef[row.text("ref")]; ok {
				delete(byRef, o.Ref)
				each(o, row)
			}
		}
	}
	return nil
}
