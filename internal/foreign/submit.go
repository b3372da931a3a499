package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// searchBudget bounds the search for the jobs of a batch that the database refuses.
// Others wait for their transaction.
const searchBudget = time.Second

// Submit implements [sink.Submitter].
func (q *queue) Submit(ctx context.Context, outer jobqueue.DBTX, jobs []jobqueue.Job) ([]sink.Submission, error) {
	tx := q.db.In(outer, time.Time{})
	found, err := q.shape(ctx, tx)
	if err != nil {
		return nil, err
	}
	s := &submit{queue: q, tx: tx, shape: found, queues: map[string]bool{}}
	parts := map[string][]jobqueue.Job{}
	for _, j := range jobs {
		part, reason, passing, err := s.sort(ctx, j)
		if err != nil {
			return nil, err
		}
		if reason != "" {
			s.refuse(j, reason, passing)
			continue
		}
		parts[part] = append(parts[part], j)
	}
	for part, list := range parts {
		if err := s.add(ctx, part, list); err != nil {
			return nil, q.wrap(err)
		}
	}
	if err := s.notify(ctx); err != nil {
		return nil, q.wrap(err)
	}
	return s.done, nil
}

// submit is one call of Submit.
type submit struct {
	*queue
	tx     *sqldb.Tx
	shape  *Shape
	done   []sink.Submission
	queues map[string]bool // those that got jobs
	looked bool            // for new parts
}

// sort returns the part that a job belongs to, or why the queue cannot take it. A
// part that was made since the tables were looked at is found.
func (s *submit) sort(ctx context.Context, j jobqueue.Job) (part, reason string, passing bool, err error) {
	if s.spec.Check != nil {
		reason = s.spec.Check(j)
	}
	if reason != "" || s.shape.Part == nil {
		return "", reason, false, nil
	}
	part = s.shape.Part(j)
	if !s.shape.Parts[part] && !s.looked {
		s.looked = true
		s.known.forget()
		if s.shape, err = s.queue.shape(ctx, s.tx); err != nil {
			return "", "", false, err
		}
	}
	if !s.shape.Parts[part] {
		reason, passing = s.shape.NoPart(part)
	}
	return part, reason, passing, nil
}

func (s *submit) refuse(j jobqueue.Job, reason string, passing bool) {
	s.done = append(s.done, sink.Submission{JID: j.JID, Refused: reason, Passing: passing})
}

// add adds the jobs of one part. If the database refuses the statement because of a
// row, add finds the rows that it refuses alone.
func (s *submit) add(ctx context.Context, part string, jobs []jobqueue.Job) error {
	try := func(ctx context.Context, jobs []jobqueue.Job, _ bool) error { return s.try(ctx, part, jobs) }
	err := try(ctx, jobs, false)
	if err == nil {
		return nil
	}
	if !s.worthLooking(err) {
		return err
	}
	s.known.forget() // an upgrade of the other system fails all rows: blame none
	if s.shape, err = s.queue.shape(ctx, s.tx); err != nil {
		return err
	}
	if err = try(ctx, jobs, false); err == nil || !errors.Is(err, sqldb.ErrRefused) {
		return err
	}
	accepted := len(s.done)
	found := isolate.Bisect(ctx, jobs, err, isolate.Search[jobqueue.Job]{Try: try, Budget: searchBudget,
		Judge: func(err error) isolate.Cause {
			if errors.Is(err, sqldb.ErrRefused) {
				return isolate.Row
			}
			return isolate.Database
		}})
	if found.Err != nil && (!errors.Is(found.Err, sqldb.ErrRefused) || len(s.done) == accepted && len(found.Culprits) == 0) {
		return found.Err // it concerns them all
	}
	for _, c := range found.Culprits {
		s.refuse(c.Item, words(s.db, c.Err), false)
	}
	for _, j := range found.Left {
		s.refuse(j, "the database refused too many jobs of the same batch, the last one with: "+words(s.db, found.Err), true)
	}
	return nil
}

// words is what the database says about a refused row.
func words(db *sqldb.DB, err error) string {
	said := db.Say(err)
	switch {
	case said.Message == "":
		return err.Error()
	case said.Detail == "":
		return said.Message
	}
	return said.Message + " (" + strings.TrimSuffix(said.Detail, ".") + ")"
}

// try adds jobs, all or none of them.
func (s *submit) try(ctx context.Context, part string, jobs []jobqueue.Job) error {
	r, err := batch(s.db, s.shape.Columns, jobs)
	if err != nil {
		return err
	}
	var done []sink.Submission
	err = saved(ctx, s.tx, func() error {
		rows, err := query(ctx, s.tx, s.shape.Insert, part, r)
		if err == nil && !s.shape.Mapped.Empty() {
			rows, err = s.mapped(ctx, part, rows)
		}
		if err == nil {
			done, err = s.accepted(jobs, rows)
		}
		if err == nil && !s.shape.WhyAbsent.Empty() && slices.ContainsFunc(done, isRefused) {
			err = s.explain(ctx, part, r, done)
		}
		return err
	})
	if err != nil {
		return err
	}
	s.done = append(s.done, done...)
	return nil
}

func isRefused(d sink.Submission) bool { return d.Refused != "" }

// mapped finds the jobs of the references that the insert returned.
func (s *submit) mapped(ctx context.Context, part string, rows result) (result, error) {
	r, err := s.db.Records(1, []sqldb.Field{sqldb.Text("ref")}, len(rows.list), func(i int) []any {
		return []any{rows.list[i].text("ref")}
	})
	if err != nil {
		return result{}, err
	}
	return query(ctx, s.tx, s.shape.Mapped, part, r)
}

// accepted says what became of jobs for which the insert returned rows, or none.
func (s *submit) accepted(jobs []jobqueue.Job, rows result) ([]sink.Submission, error) {
	all := len(rows.columns) == 0
	if !all && !slices.Contains(rows.columns, "jid") {
		return nil, fmt.Errorf("%w: the insert returns the columns %s, and jid is not among them", ErrUnusable, strings.Join(rows.columns, ", "))
	}
	taken := make(map[string]row, len(jobs))
	for _, row := range rows.list {
		taken[row.text("jid")] = row
	}
	done := make([]sink.Submission, len(jobs))
	for i, j := range jobs {
		row, ok := taken[j.JID]
		switch {
		case !ok && !all:
			done[i] = sink.Submission{JID: j.JID, Refused: s.shape.Absent, Passing: s.shape.AbsentPassing}
		case row.text("refused") != "":
			done[i] = sink.Submission{JID: j.JID, Refused: row.text("refused"), Passing: row.truth("passing")}
		default:
			done[i] = sink.Submission{JID: j.JID, Ref: cmp.Or(row.text("ref"), j.JID)}
			if s.shape.QueueOf != nil {
				s.queues[s.shape.QueueOf(j)] = true
			}
		}
	}
	return done, nil
}

// explain asks why jobs of a batch were not taken.
func (s *submit) explain(ctx context.Context, part string, jobs sqldb.Records, done []sink.Submission) error {
	reasons, err := query(ctx, s.tx, s.shape.WhyAbsent, part, jobs)
	if err != nil {
		return err
	}
	why := make(map[string]row, len(reasons.list))
	for _, row := range reasons.list {
		why[row.text("jid")] = row
	}
	for i, d := range done {
		if row, ok := why[d.JID]; ok && isRefused(d) {
			done[i].Refused, done[i].Passing = row.text("reason"), row.truth("passing")
		}
	}
	return nil
}

// notify wakes the workers of the queues that got jobs.
func (s *submit) notify(ctx context.Context) error {
	if s.shape.Notify.Empty() || len(s.queues) == 0 {
		return nil
	}
	names := make([]string, 0, len(s.queues))
	for name := range s.queues {
		names = append(names, name)
	}
	r, err := s.db.Records(1, []sqldb.Field{sqldb.Text("queue")}, len(names), func(i int) []any { return []any{names[i]} })
	if err != nil {
		return err
	}
	_, err = query(ctx, s.tx, s.shape.Notify, "", r)
	return err
}
