package partition

import (
	"context"
	"database/sql"
	"time"
)

// fewest is how many rows of an old partition may stay, in the default partition. With
// more the partition stays as a whole, and its rows are deleted one by one.
const fewest = 1000

// watched tells whether something wants to know of each row that comes or goes: a trigger
// for single rows, or a foreign key to them, which may delete others along with it. Rows do
// not move to other partitions then.
const watched = `(EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = ` + table + ` AND NOT tgisinternal AND tgtype & 1 = 1 AND tgtype & 12 > 0)
	OR EXISTS (SELECT 1 FROM pg_constraint WHERE contype = 'f' AND confrelid = ` + table + `))`

// Missing is the first of the partitions of now and of times to come that is missing,
// nil if none is.
func Missing(ctx context.Context, q querier, width Width) (*Span, error) {
	var now time.Time
	if err := q.QueryRowContext(ctx, "SELECT statement_timestamp() AT TIME ZONE 'UTC'").Scan(&now); err != nil {
		return nil, wrap("ask for the time", err)
	}
	for _, s := range width.coming(now) {
		var covered bool
		err := q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM (`+bounds+`) AS p WHERE first < $2 AND next > $1)
			OR to_regclass($3) IS NOT NULL
			OR `+watched+` AND EXISTS (SELECT 1 FROM `+Rest+` WHERE due >= $1 AND due < $2)`, s.first, s.next, s.name()).Scan(&covered)
		if err != nil {
			return nil, wrap("look for the partition "+s.name(), err)
		}
		if !covered {
			return &s, nil
		}
	}
	return nil, nil
}

// Make makes the partition that [Missing] names, in a transaction that has the table for
// itself. Rows that are in the default partition for want of it move. It returns the
// partition's name, empty if none is missing.
func Make(ctx context.Context, tx *sql.Tx, width Width) (name string, err error) {
	s, err := Missing(ctx, tx, width)
	if err != nil || s == nil {
		return "", err
	}
	return s.name(), wrap("make the partition "+s.name(), attach(ctx, tx, *s))
}

func attach(ctx context.Context, tx *sql.Tx, s Span) error {
	d, err := describe(ctx, tx)
	if err != nil {
		return err
	}
	c := conversion{Tx: tx, description: d}
	in := " WHERE due >= '" + stamp(s.first) + "' AND due < '" + stamp(s.next) + "'"
	err = c.run(ctx,
		"CREATE TABLE "+s.name()+" (LIKE "+Table+" INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING STORAGE INCLUDING CONSTRAINTS)"+c.storage,
		"INSERT INTO "+s.name()+" ("+c.columns+") SELECT "+c.columns+" FROM "+Rest+in,
		"DELETE FROM "+Rest+in,
		"ALTER TABLE "+Table+" ATTACH PARTITION "+s.name()+" "+s.values(),
	)
	if err != nil {
		return err
	}
	return c.own(ctx, false)
}

// Old is a partition with nothing but rows from before a time, but few.
type Old struct {
	Name string
	Rows int // without those that stay
}

// stays are the rows that are not old: those that wait, and those decided since $1.
const stays = "(decision = 'queued' OR decided >= $1)"

// Oldest lists the partitions that can be dropped because of what is in them. It locks
// nothing.
func Oldest(ctx context.Context, q querier, before time.Time) (list []Old, err error) {
	names, err := texts(ctx, q, `SELECT p.oid::regclass::text FROM (`+bounds+`) AS p WHERE next <= $1 AND NOT `+watched+` ORDER BY next`, before)
	if err != nil {
		return nil, wrap("list old partitions", err)
	}
	for _, name := range names {
		var rows, stay int
		err := q.QueryRowContext(ctx, "SELECT count(*), count(*) FILTER (WHERE "+stays+") FROM "+name, before).Scan(&rows, &stay)
		if err != nil {
			return nil, wrap("read the partition "+name, err)
		}
		if stay <= fewest {
			list = append(list, Old{name, rows - stay})
		}
	}
	return list, nil
}

// Drop drops a partition that [Oldest] has listed, in a transaction that has the table for
// itself. What has to stay moves to the default partition. It reports false if that is too
// much by now.
func Drop(ctx context.Context, tx *sql.Tx, name string, before time.Time) (bool, error) {
	var stay int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM "+name+" WHERE "+stays, before).Scan(&stay); err != nil || stay > fewest {
		return false, wrap("read the partition "+name, err)
	}
	d, err := describe(ctx, tx)
	if err != nil {
		return false, err
	}
	c := conversion{Tx: tx, description: d}
	if err := c.run(ctx, "ALTER TABLE "+Table+" DETACH PARTITION "+name); err != nil {
		return false, err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO "+Rest+" ("+c.columns+") SELECT "+c.columns+" FROM "+name+" WHERE "+stays, before) //nolint:gosec // names of the catalog, quoted
	if err != nil {
		return false, wrap("keep rows of the partition "+name, err)
	}
	return true, wrap("drop the partition "+name, c.run(ctx, "DROP TABLE "+name))
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05") }
