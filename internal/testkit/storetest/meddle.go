package storetest

import (
	"fmt"
	"sync/atomic"

	"github.com/jmoiron/sqlx"
)

// Hold runs a statement in a transaction on a connection of its own. It stays open until somebody ends it, or the test ends.
func (d *Database) Hold(statement string, args ...any) *sqlx.Tx {
	d.Helper()
	tx, err := d.Connect().Beginx()
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = tx.Rollback() })
	if _, err := tx.Exec(d.rebind(statement, args), args...); err != nil {
		d.Fatalf("%s: %v", statement, err)
	}
	return tx
}

var triggers atomic.Int64 // so far

// Trigger makes a user's trigger, which runs statements of each kind of database before an event of rows of a table for which a
// condition on NEW and OLD holds. What it returns removes the trigger.
func (d *Database) Trigger(table, event, when, onPostgres, onSQLite string) (remove func()) {
	d.Helper()
	name := fmt.Sprintf("own_%d", triggers.Add(1))
	head := "CREATE TRIGGER " + name + " BEFORE " + event + " ON " + table
	if d.Kind == SQLite {
		d.Exec(head + " WHEN " + when + " BEGIN " + onSQLite + "; END")
		return func() { d.Exec("DROP TRIGGER " + name) }
	}
	d.Exec("CREATE FUNCTION " + name + "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + onPostgres + "; END $$")
	d.Exec(head + " FOR EACH ROW WHEN (" + when + ") EXECUTE FUNCTION " + name + "()")
	return func() { d.Exec("DROP TRIGGER " + name + " ON " + table) }
}

// Refuse has a trigger refuse such rows: on PostgreSQL with an error of a code.
func (d *Database) Refuse(table, event, when, code string) (remove func()) {
	d.Helper()
	return d.Trigger(table, event, when, "RAISE EXCEPTION 'hands off' USING ERRCODE = '"+code+"'", "SELECT RAISE(ABORT, 'hands off')")
}
