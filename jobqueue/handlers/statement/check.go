package statement

import (
	"context"
	"database/sql"
	"slices"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Check returns what the database has against the statements. It runs none but SET LOCAL: the database reads
// their text, and plans those that read or write rows, which checks rights. What follows a statement that makes or
// drops something is not checked.
func (w Work) Check(ctx context.Context, on sqldb.Opened) error {
	r, err := w.runner(on)
	if err != nil {
		return err
	}
	return r.db.View(ctx, func(tx *sqldb.Tx) error {
		if err := r.setRole(ctx, tx); err != nil {
			return err
		}
		for i, s := range r.list {
			if err := r.try(ctx, tx, s); err != nil || s.oneOf(redefining) || s.words[0] == "SELECT" && slices.Contains(s.words, "INTO") {
				return r.at(i, err)
			}
		}
		return nil
	})
}

// The words with which statements begin that a database can plan, and those that may leave other tables or rights than
// there are now.
var (
	planned    = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "VALUES", "TABLE", "WITH"}
	redefining = []string{"CREATE", "ALTER", "DROP", "DO", "CALL", "IMPORT", "GRANT", "REVOKE"}
)

func (s *Statement) oneOf(words []string) bool { return slices.Contains(words, s.words[0]) }

func (r runner) try(ctx context.Context, tx *sqldb.Tx, s Statement) (err error) {
	if s.words[0] == "SET" { // what follows may depend on it
		_, err = r.exec(ctx, tx, s.Text, nil)
		return err
	}
	can, ok := tx.DBTX().(interface {
		PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	})
	if ok {
		prepared, err := can.PrepareContext(ctx, s.Text)
		if err != nil {
			return r.others(ctx, err)
		}
		defer prepared.Close() //nolint:errcheck // the end of the transaction closes it, too
	}
	if s.oneOf(planned) {
		_, err = r.exec(ctx, tx, "EXPLAIN "+s.Text, make([]any, len(s.Params)))
	}
	return err
}
