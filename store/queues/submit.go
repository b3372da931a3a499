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
	fit := make([]jobqueue.Job, 0, len(jobs))
	for _, j := range jobs {
		if check := q.preset.check; check != nil && check(j) != "" {
			s.refuse(j, check(j))
		} else {
			fit = append(fit, j)
		}
	}
	if len(fit) == 0 {
		return s.done, nil
	}
	if err := s.add(ctx, fit); err != nil {
		return nil, err
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

func (s *submit) refuse(j jobqueue.Job, reason string) {
	s.done = append(s.done, sink.Submission{JID: j.JID, Refused: reason})
}

// add adds the jobs: where the database refuses a batch, in parts, and one by one. It refuses the jobs that the
// database refuses alone, unless it refuses all of them, or very many: then no job is to blame.
func (s *submit) add(ctx context.Context, jobs []jobqueue.Job) error {
	cause := s.try(ctx, jobs)
	if !errors.Is(cause, sqldb.ErrRefused) {
		return cause
	}
	refused := 0
	left, err := service.InParts(ctx, jobs, cause, func(some []jobqueue.Job) error { return s.try(ctx, some) }, func(j jobqueue.Job, err error) error {
		if !errors.Is(err, sqldb.ErrRefused) {
			return err
		}
		s.refuse(j, cmp.Or(s.words(err), err.Error()))
		refused++
		return nil
	})
	if err == nil && (len(left) > 0 || refused == len(jobs) && refused > 1) {
		err = cause
	}
	return err
}

// try adds jobs, all or none of them.
func (s *submit) try(ctx context.Context, jobs []jobqueue.Job) error {
	r := s.batch(jobs)
	var done []sink.Submission
	err := saved(ctx, s.tx, func() error {
		rows, err := s.insert(ctx, r)
		if err == nil {
			done, err = s.accepted(jobs, rows)
		}
		return err
	})
	if err == nil {
		s.done = append(s.done, done...)
	}
	return err
}

// insert runs the statement that adds jobs, and finds the jobs of the references that it
// returned.
func (s *submit) insert(ctx context.Context, jobs sqldb.Records) (result, error) {
	rows, err := s.query(ctx, s.tx, s.preset.insert, jobs)
	if err != nil || s.preset.mapped.empty() {
		return rows, err
	}
	r := s.db.Records(1, []sqldb.Field{sqldb.Text("ref")}, len(rows.list), func(i int) []any { return []any{rows.list[i].text("ref")} })
	return s.query(ctx, s.tx, s.preset.mapped, r)
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

// notify wakes the workers of the queues that got jobs.
func (s *submit) notify(ctx context.Context) error {
	if s.preset.notify.empty() || len(s.queues) == 0 {
		return nil
	}
	names := slices.Collect(maps.Keys(s.queues))
	r := s.db.Records(1, queueFields, len(names), func(i int) []any { return []any{names[i]} })
	_, err := s.query(ctx, s.tx, s.preset.notify, r)
	return err
}

// queueFields are the columns that notify reads.
var queueFields = []sqldb.Field{sqldb.Text("queue")}
