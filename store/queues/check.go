package queues

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Report says how a queue was found.
type Report struct {
	Kind     string   // as in the configuration file, such as river
	Problems []string // what keeps it from being used
	Warnings []string // what is wrong with it although it can be used
}

// Check runs the statements of a queue over no rows, and takes back what they did. What the
// database says against one is in the report; an error means that the database could not
// be asked. ok is false if the submitter is not from [Open].
func Check(ctx context.Context, s sink.Submitter) (r Report, ok bool, err error) {
	of, ok := s.(interface{ base() *queue })
	if !ok {
		return r, false, nil
	}
	q := of.base()
	r.Kind = q.preset.kind
	err = q.db.Update(ctx, func(tx *sqldb.Tx) error {
		said, err := q.statements(ctx, tx)
		if said != "" {
			r.Problems = append(r.Problems, said)
		}
		return err
	})
	if err == nil && len(r.Problems) == 0 {
		err = q.db.View(ctx, func(tx *sqldb.Tx) error {
			said, err := q.overNone(ctx, tx, "outcome", q.preset.ends, "outcome")
			if said != "" {
				r.Warnings = append(r.Warnings, "how its jobs end cannot be read: "+said)
			}
			return err
		})
	}
	return r, true, err
}

// Probe implements [sink.Prober].
func (q *queue) Probe(ctx context.Context, outer jobqueue.DBTX) error {
	tx := q.db.In(outer, time.Time{})
	if q.preset.probe.empty() {
		return q.insertNone(ctx, tx)
	}
	return takenBack(ctx, tx, func() error {
		_, err := q.over(ctx, tx, q.preset.probe, nil)
		return err
	})
}

// insertNone runs the insert without a job, and takes back what it did.
func (q *queue) insertNone(ctx context.Context, tx *sqldb.Tx) error {
	none := q.batch(nil)
	s := &submit{queue: q, tx: tx}
	return takenBack(ctx, tx, func() error {
		rows, err := s.insert(ctx, none)
		if err == nil {
			_, err = s.accepted(nil, rows)
		}
		return err
	})
}

// errTakeBack ends what is only tried.
var errTakeBack = errors.New("take it back")

// takenBack runs fn and takes back what it did.
func takenBack(ctx context.Context, tx *sqldb.Tx, fn func() error) error {
	err := saved(ctx, tx, func() error { return cmp.Or(fn(), errTakeBack) })
	if errors.Is(err, errTakeBack) {
		return nil
	}
	return err
}

// statements runs what a scheduler runs, and returns what is wrong with the first bad one.
func (q *queue) statements(ctx context.Context, tx *sqldb.Tx) (string, error) {
	p, now := q.preset, sqldb.Timestamp(tx.Now())
	for _, run := range []func() (string, error){
		func() (string, error) { return q.said("enqueue", q.Probe(ctx, tx.DBTX())) },
		func() (string, error) { return q.said("enqueue", q.insertNone(ctx, tx)) },
		func() (string, error) { return q.overNone(ctx, tx, "pending", p.pending, "") },
		func() (string, error) { return q.overNone(ctx, tx, "cancel", p.cancel, "", now) },
		func() (string, error) { return q.overNone(ctx, tx, "retry", p.retry, "", now) },
		func() (string, error) { return q.notifyNone(ctx, tx) },
	} {
		if said, err := run(); said != "" || err != nil {
			return said, err
		}
	}
	return "", nil
}

// overNone runs a statement about open jobs over none of them, and takes back what it did.
// It returns what is wrong with it. What pending and outcome return has to name the job.
func (q *queue) overNone(ctx context.Context, tx *sqldb.Tx, name string, s statement, needs string, more ...any) (string, error) {
	if s.empty() {
		return "", nil
	}
	var rows result
	err := takenBack(ctx, tx, func() (err error) {
		rows, err = q.over(ctx, tx, s, nil, more...)
		return err
	})
	has := func(column string) bool { return slices.Contains(rows.columns, column) }
	switch {
	case err != nil:
		return q.said(name, err)
	case len(more) == 0 && !has("ref") && !has("jid"):
		needs = "ref or jid"
	case needs == "" || has(needs):
		return "", nil
	}
	return fmt.Sprintf("%s: it returns the columns %s; it must return %s", name, strings.Join(rows.columns, ", "), needs), nil
}

func (q *queue) notifyNone(ctx context.Context, tx *sqldb.Tx) (string, error) {
	if q.preset.notify.empty() {
		return "", nil
	}
	none := q.db.Records(1, queueFields, 0, nil)
	return q.said("notify", saved(ctx, tx, func() error { _, err := q.query(ctx, tx, q.preset.notify, none); return err }))
}

// said is an error about a statement in words, or else the error.
func (q *queue) said(name string, err error) (string, error) {
	switch {
	case errors.Is(err, ErrUnusable):
		_, text, _ := strings.Cut(err.Error(), ErrUnusable.Error()+": ")
		return name + ": " + text, nil
	case errors.Is(err, sqldb.ErrRefused):
		return name + ": " + q.words(err), nil
	case name == "outcome" && strings.Contains(strings.ReplaceAll(q.words(err), "-", ""), "readonly"):
		return "outcome: it writes; it must only read", nil
	}
	return "", err
}
