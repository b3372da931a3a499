package queues

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Submit implements [sink.Submitter].
func (q *queue) Submit(ctx context.Context, outer jobqueue.DBTX, jobs []jobqueue.Job) ([]sink.Submission, error) {
	s := &submit{queue: q, tx: q.db.In(outer, time.Time{}), queues: map[string]bool{}}
	parts, err := s.sort(ctx, jobs)
	if err != nil {
		return nil, err
	}
	for part, list := range parts {
		err := s.add(ctx, part, list)
		if q.preset.parts != "" && errors.Is(err, ErrUnusable) { // other parts may be usable
			for _, j := range list {
				s.refuse(j, err.Error(), true)
			}
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	return s.done, s.notify(ctx)
}

// submit is one call of Submit.
type submit struct {
	*queue
	tx     *sqldb.Tx
	done   []sink.Submission
	queues map[string]bool // those that got jobs
}

// sort returns jobs by the part that they belong to, without those that the queue cannot
// take, which it refuses.
func (s *submit) sort(ctx context.Context, jobs []jobqueue.Job) (map[string][]jobqueue.Job, error) {
	p := s.preset
	var there map[string]bool
	if p.parts != "" {
		var err error
		if there, err = s.parts(ctx, s.tx); err != nil {
			return nil, err
		}
	}
	parts := map[string][]jobqueue.Job{}
	for _, j := range jobs {
		part, reason := "", ""
		if p.check != nil {
			reason = p.check(j)
		}
		if p.parts != "" {
			if part = p.part(j); !there[part] {
				reason = fmt.Sprintf(p.noPart, part)
			}
		}
		if reason != "" {
			s.refuse(j, reason, false)
			continue
		}
		parts[part] = append(parts[part], j)
	}
	return parts, nil
}

func (s *submit) refuse(j jobqueue.Job, reason string, passing bool) {
	s.done = append(s.done, sink.Submission{JID: j.JID, Refused: reason, Passing: passing})
}

// add adds the jobs of one part: where the database refuses a batch, in parts, and one by one. It refuses the jobs that the
// database refuses alone, unless it refuses all of them, or very many: then no job is to blame.
func (s *submit) add(ctx context.Context, part string, jobs []jobqueue.Job) error {
	cause := s.try(ctx, part, jobs)
	if !errors.Is(cause, sqldb.ErrRefused) {
		return cause
	}
	refused := 0
	left, err := service.InParts(ctx, jobs, cause, func(some []jobqueue.Job) error { return s.try(ctx, part, some) }, func(j jobqueue.Job, err error) error {
		if !errors.Is(err, sqldb.ErrRefused) {
			return err
		}
		s.refuse(j, cmp.Or(s.words(err), err.Error()), false)
		refused++
		return nil
	})
	if err == nil && (len(left) > 0 || refused == len(jobs) && refused > 1) {
		err = cause
	}
	return err
}

// try adds jobs, all or none of them.
func (s *submit) try(ctx context.Context, part string, jobs []jobqueue.Job) error {
	r, err := s.batch(jobs)
	if err != nil {
		return err
	}
	var done []sink.Submission
	err = saved(ctx, s.tx, func() error {
		rows, err := s.insert(ctx, part, r)
		if err == nil {
			done, err = s.accepted(jobs, rows)
		}
		if err == nil && !s.preset.whyAbsent.empty() && slices.ContainsFunc(done, isRefused) {
			err = s.explain(ctx, part, r, done)
		}
		return err
	})
	if err == nil {
		s.done = append(s.done, done...)
	}
	return err
}

func isRefused(d sink.Submission) bool { return d.Refused != "" }

// insert runs the statement that adds jobs, and finds the jobs of the references that it
// returned.
func (s *submit) insert(ctx context.Context, part string, jobs sqldb.Records) (result, error) {
	rows, err := s.query(ctx, s.tx, s.preset.insert, part, jobs)
	if err != nil || s.preset.mapped.empty() {
		return rows, err
	}
	r, err := s.db.Records(1, []sqldb.Field{sqldb.Text("ref")}, len(rows.list), func(i int) []any { return []any{rows.list[i].text("ref")} })
	if err != nil {
		return result{}, err
	}
	return s.query(ctx, s.tx, s.preset.mapped, part, r)
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
			done[i] = sink.Submission{JID: j.JID, Refused: s.preset.absent, Passing: s.preset.passing}
		case row.text("refused") != "":
			done[i] = sink.Submission{JID: j.JID, Refused: row.text("refused"), Passing: row.truth("passing")}
		default:
			done[i] = sink.Submission{JID: j.JID, Ref: cmp.Or(row.text("ref"), j.JID)}
			if s.preset.queueOf != nil {
				s.queues[s.preset.queueOf(j)] = true
			}
		}
	}
	return done, nil
}

// explain asks why jobs of a batch were not taken.
func (s *submit) explain(ctx context.Context, part string, jobs sqldb.Records, done []sink.Submission) error {
	reasons, err := s.query(ctx, s.tx, s.preset.whyAbsent, part, jobs)
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
	if s.preset.notify.empty() || len(s.queues) == 0 {
		return nil
	}
	names := slices.Collect(maps.Keys(s.queues))
	r, err := s.db.Records(1, queueFields, len(names), func(i int) []any { return []any{names[i]} })
	if err != nil {
		return err
	}
	_, err = s.query(ctx, s.tx, s.preset.notify, "", r)
	return err
}

// queueFields are the columns that notify reads.
var queueFields = []sqldb.Field{sqldb.Text("queue")}
