package partition

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Convert makes the table one with partitions of a width, or, with none, one without
// partitions, in a transaction of the caller's. The rows and all that is on the table stay.
// Others wait until the transaction ends.
func Convert(ctx context.Context, tx *sql.Tx, width Width) error {
	if err := without(ctx, tx, obstacles); err != nil {
		return err
	}
	d, err := describe(ctx, tx)
	if err != nil {
		return err
	}
	c := conversion{Tx: tx, description: d}
	// The owner reads all rows then.
	if err := c.run(ctx, "ALTER TABLE "+Table+" NO FORCE ROW LEVEL SECURITY", "ALTER TABLE "+Table+" RENAME TO "+was); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return c.create(ctx, width) },
		func(ctx context.Context) error { return c.own(ctx, true) },
		c.copy,
		func(ctx context.Context) error { return c.run(ctx, append(c.views, c.loosen...)...) },
		func(ctx context.Context) error { return without(ctx, tx, dependents) },
		func(ctx context.Context) error { return c.run(ctx, "DROP TABLE "+was) },
		c.rename,
		func(ctx context.Context) error { return c.run(ctx, c.restore...) },
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// conversion is a transaction that replaces the table.
type conversion struct {
	*sql.Tx
	description
}

func (c conversion) run(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if _, err := c.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// like copies the columns of the old table.
const like = "(LIKE " + was + " INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING STORAGE INCLUDING COMMENTS)"

// fresh begins the names of partitions while those of the old table have theirs.
const fresh = "nextrun_new_"

// create makes the new table.
func (c conversion) create(ctx context.Context, width Width) error {
	if width == "" {
		return c.run(ctx, "CREATE TABLE "+Table+" "+like+c.storage)
	}
	spans, err := c.spans(ctx, width)
	if err != nil {
		return err
	}
	statements := []string{
		"CREATE TABLE " + Table + " " + like + " PARTITION BY RANGE (due)",
		"CREATE TABLE " + fresh + Rest + " PARTITION OF " + Table + " DEFAULT" + c.storage,
	}
	for _, s := range spans {
		statements = append(statements, "CREATE TABLE "+fresh+s.name()+" PARTITION OF "+Table+" "+s.values()+c.storage)
	}
	return c.run(ctx, statements...)
}

// spans are the partitions for the rows that are there, and the coming ones.
func (c conversion) spans(ctx context.Context, width Width) ([]Span, error) {
	var now time.Time
	if err := c.QueryRowContext(ctx, "SELECT statement_timestamp() AT TIME ZONE 'UTC'").Scan(&now); err != nil {
		return nil, wrap("ask for the time", err)
	}
	list := width.coming(now)
	oldest := width.next(list[0].first, -most)
	rows, err := c.QueryContext(ctx, "SELECT DISTINCT date_trunc($1, due) FROM "+was+" WHERE due >= $2 AND due < $3", string(width), oldest, list[0].first)
	if err != nil {
		return nil, wrap("read the times of the rows", err)
	}
	defer rows.Close() //nolint:errcheck // reading; Err tells
	for rows.Next() {
		var first time.Time
		if err := rows.Scan(&first); err != nil {
			return nil, wrap("read the times of the rows", err)
		}
		first = width.begin(first)
		list = append(list, Span{first, width.next(first, 1)})
	}
	return list, rows.Err()
}

// copy copies the rows, and makes sure that none is hidden.
func (c conversion) copy(ctx context.Context) error {
	statements := []string{
		"SET LOCAL row_security = off", // rather an error than rows that are left behind
		"INSERT INTO " + Table + " (" + c.columns + ") OVERRIDING SYSTEM VALUE SELECT " + c.columns + " FROM " + was,
	}
	return c.run(ctx, statements...)
}

// rename gives the partitions their names.
func (c conversion) rename(ctx context.Context) error {
	list, err := texts(ctx, c, `SELECT format('ALTER TABLE %s RENAME TO %I', inhrelid::regclass, substr(relname, $1))
		FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = `+table, len(fresh)+1)
	if err != nil {
		return wrap("list the partitions", err)
	}
	return c.run(ctx, list...)
}

// ownership gives the table and its partitions, or only these, to the owner of the old one,
// and takes away what default privileges gave: nobody but the owner has rights on partitions,
// and those on the table are restored later.
const ownership = `WITH own AS (SELECT oid, oid::regclass AS relation, relowner, relacl, $1::text AS owner FROM pg_class
		WHERE $2 AND oid = ` + table + ` OR oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = ` + table + `))
	SELECT format('ALTER TABLE %s OWNER TO %s', relation, owner) FROM own WHERE relowner <> owner::regrole
	UNION ALL
	SELECT DISTINCT format('REVOKE ALL ON %s FROM %s', relation, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
	FROM own, aclexplode(relacl) WHERE oid = ` + table + ` OR grantee <> relowner`

func (c conversion) own(ctx context.Context, withTable bool) error {
	list, err := texts(ctx, c, ownership, c.owner, withTable)
	if err != nil {
		return wrap("list the partitions", err)
	}
	return c.run(ctx, list...)
}
