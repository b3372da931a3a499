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

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Report says how a queue was found.
type Report struct {
	Kind     string   // as in the configuration file, such as river
	Found    string   // the version of its tables, such as "schema level 8"; empty: not known
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
	c := &check{queue: of.base(), Report: &r}
	r.Kind = c.preset.kind
	err = c.db.Update(ctx, func(tx *sqldb.Tx) error {
		c.version(ctx, tx)
		return c.statements(ctx, tx)
	})
	if err == nil && len(r.Problems) == 0 && c.preset.parts == "" {
		err = c.db.View(ctx, func(tx *sqldb.Tx) error {
			said, err := c.overNone(ctx, tx, "outcome", c.preset.ends, "", "outcome")
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
	if q.preset.parts != "" {
		_, err := q.parts(ctx, q.db.In(outer, time.Time{}))
		return err
	}
	tx := q.db.In(outer, time.Time{})
	if q.preset.probe.empty() {
		return q.insertNone(ctx, tx, "")
	}
	err := saved(ctx, tx, func() error {
		_, err := q.over(ctx, tx, q.preset.probe, "", nil)
		return cmp.Or(err, errTakeBack)
	})
	if errors.Is(err, errTakeBack) {
		return nil
	}
	return err
}

// insertNone runs the insert without a job, and takes back what it did.
func (q *queue) insertNone(ctx context.Context, tx *sqldb.Tx, part string) error {
	none, err := q.batch(nil)
	if err != nil {
		return err
	}
	s := &submit{queue: q, tx: tx}
	err = saved(ctx, tx, func() error {
		rows, err := s.insert(ctx, part, none)
		if err == nil {
			_, err = s.accepted(nil, rows)
		}
		return cmp.Or(err, errTakeBack)
	})
	if errors.Is(err, errTakeBack) {
		return nil
	}
	return err
}

// check is one call of Check.
type check struct {
	*queue
	*Report
}

// version says which version the tables are of, and warns of one that nextrun was not tried
// with. A role that may not read it may submit jobs nevertheless, and of tables that are
// missing the statements say so.
func (c *check) version(ctx context.Context, tx *sqldb.Tx) {
	if c.preset.version == "" {
		return
	}
	var row struct{ Found, Problem string }
	if saved(ctx, tx, func() error { return tx.First(ctx, &row, c.preset.version) }) != nil {
		return
	}
	c.Found = row.Found
	if row.Problem != "" {
		c.Warnings = append(c.Warnings, row.Problem+"; "+c.preset.remedy)
	}
}

// statements runs what a scheduler runs, for each part that may get jobs. It stops at the
// first problem.
func (c *check) statements(ctx context.Context, tx *sqldb.Tx) error {
	p := c.preset
	parts := []string{""}
	if p.parts != "" {
		var there map[string]bool
		err := saved(ctx, tx, func() (err error) { there, err = c.parts(ctx, tx); return err })
		if err != nil {
			said, err := c.said("enqueue", err)
			c.Problems = append(c.Problems, said)
			return err
		}
		if parts = slices.Sorted(maps.Keys(there)); p.only != "" {
			if parts = []string{p.only}; !there[p.only] {
				c.Problems = append(c.Problems, fmt.Sprintf(p.noPart, p.only))
			}
		}
	}
	for _, part := range parts {
		if len(c.Problems) > 0 {
			return nil
		}
		said, err := c.part(ctx, tx, part)
		switch {
		case err != nil:
			return err
		case said == "":
		case p.parts != "" && p.only == "":
			c.Warnings = append(c.Warnings, part+": "+said)
		default:
			c.Problems = append(c.Problems, said)
		}
	}
	return nil
}

// part runs the statements for one part, and returns what is wrong with the first bad one.
func (c *check) part(ctx context.Context, tx *sqldb.Tx, part string) (string, error) {
	p, now := c.preset, sqldb.Timestamp(tx.Now())
	for _, run := range []func() (string, error){
		func() (string, error) { return c.said("enqueue", c.Probe(ctx, tx.DBTX())) },
		func() (string, error) { return c.said("enqueue", c.insertNone(ctx, tx, part)) },
		func() (string, error) { return c.overNone(ctx, tx, "pending", p.pending, part, "") },
		func() (string, error) { return c.overNone(ctx, tx, "cancel", p.cancel, part, "", now) },
		func() (string, error) { return c.overNone(ctx, tx, "retry", p.retry, part, "", now) },
		func() (string, error) { return c.notifyNone(ctx, tx) },
	} {
		if said, err := run(); said != "" || err != nil {
			return said, err
		}
	}
	return "", nil
}

// overNone runs a statement about open jobs over none of them, and takes back what it did.
// It returns what is wrong with it. What pending and outcome return has to name the job.
func (c *check) overNone(ctx context.Context, tx *sqldb.Tx, name string, s statement, part, needs string, more ...any) (string, error) {
	if s.empty() {
		return "", nil
	}
	var rows result
	err := saved(ctx, tx, func() (err error) {
		if rows, err = c.over(ctx, tx, s, part, nil, more...); err == nil {
			err = errTakeBack
		}
		return err
	})
	has := func(column string) bool { return slices.Contains(rows.columns, column) }
	switch {
	case !errors.Is(err, errTakeBack):
		return c.said(name, err)
	case len(more) == 0 && !has("ref") && !has("jid"):
		needs = "ref or jid"
	case needs == "" || has(needs):
		return "", nil
	}
	return fmt.Sprintf("%s: it returns the columns %s; it must return %s", name, strings.Join(rows.columns, ", "), needs), nil
}

func (c *check) notifyNone(ctx context.Context, tx *sqldb.Tx) (string, error) {
	if c.preset.notify.empty() {
		return "", nil
	}
	none, err := c.db.Records(1, queueFields, 0, nil)
	if err == nil {
		err = saved(ctx, tx, func() error { _, err := c.query(ctx, tx, c.preset.notify, "", none); return err })
	}
	return c.said("notify", err)
}

// said is an error about a statement in words, or else the error.
func (c *check) said(name string, err error) (string, error) {
	switch {
	case errors.Is(err, ErrUnusable):
		_, text, _ := strings.Cut(err.Error(), ErrUnusable.Error()+": ")
		return name + ": " + text, nil
	case errors.Is(err, sqldb.ErrRefused):
		return name + ": " + c.words(err), nil
	case name == "outcome" && strings.Contains(strings.ReplaceAll(c.words(err), "-", ""), "readonly"):
		return "outcome: it writes; it must only read", nil
	}
	return "", err
}
