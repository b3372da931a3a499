package foreign

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Statement is a statement of a kind. What a user wrote follows behind, as it is: on
// SQLite a $ in it is no placeholder.
type Statement struct {
	text   string
	user   string
	before string // what the user wrote in front of it, and text replaces
}

// Own is a statement of a kind itself.
func Own(text string) Statement { return Statement{text: text} }

// Empty reports whether there is no statement.
func (s Statement) Empty() bool { return s.text == "" && s.user == "" }

// explained is a statement that is only planned.
func explained(s Statement) Statement {
	return Statement{text: "EXPLAIN " + s.text, user: s.user, before: s.before}
}

// plan has the database plan a statement over no records: it checks tables, columns and
// rights.
func plan(ctx context.Context, tx *sqldb.Tx, s Statement, none sqldb.Records, more ...any) error {
	planned := explained(s)
	if tx.SQL().IsSQLite() {
		// A statement that the driver has kept is explained as it was prepared, even if
		// another connection has changed the table since, and may crash: make it new. The
		// read has SQLite notice such changes.
		planned.text = fmt.Sprintf("EXPLAIN /* %d */ %s", time.Now().UnixNano(), s.text)
		if _, err := tx.Exec(ctx, "SELECT 1 FROM sqlite_schema LIMIT 1"); err != nil {
			return err
		}
	}
	_, err := query(ctx, tx, planned, "", none, more...)
	return err
}

// rendered is the statement over records, up to what the user wrote.
func (s Statement) rendered(r sqldb.Records, part string) string {
	return strings.NewReplacer("{batch}", r.SQL, "{part}", part).Replace(s.text)
}

// query runs a statement of a kind over records and reads all rows.
func query(ctx context.Context, tx *sqldb.Tx, s Statement, part string, r sqldb.Records, more ...any) (result, error) {
	rows, err := tx.DBTX().QueryContext(ctx, tx.SQL().Rebind(s.rendered(r, part))+s.user, append([]any{r.Param}, more...)...)
	if err != nil {
		return result{}, tx.DB().Classify(ctx, err)
	}
	defer rows.Close() //nolint:errcheck // reading; Err tells
	found, err := readRows(rows)
	return found, tx.DB().Classify(ctx, err)
}

// saved runs fn inside a savepoint, so that an error leaves the transaction usable.
func saved(ctx context.Context, tx *sqldb.Tx, fn func() error) error {
	if _, err := tx.Exec(ctx, "SAVEPOINT nextrun_queue"); err != nil {
		return err
	}
	err := fn()
	if err != nil {
		if _, back := tx.Exec(ctx, "ROLLBACK TO SAVEPOINT nextrun_queue"); back != nil {
			return fmt.Errorf("%w (and the savepoint is lost: %w)", err, back)
		}
	}
	if _, end := tx.Exec(ctx, "RELEASE SAVEPOINT nextrun_queue"); end != nil && err == nil {
		err = end
	}
	return err
}
