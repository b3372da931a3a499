// Command runsql runs the statements on its standard input on a SQLite database,
// for machines without the sqlite3 program:
//
//	go run ./scripts/runsql DATABASE-FILE < SQL-FILE
//
// It knows nothing of nextrun but the driver that store brings.
package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"

	_ "github.com/nextrun/nextrun/store/sqlite"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: runsql DATABASE-FILE < SQL-FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "runsql:", err)
		os.Exit(1)
	}
}

// run executes all statements in one transaction.
func run(database string, in io.Reader) (err error) {
	statements, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", "file:"+database+"?mode=rw")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	if _, err := tx.Exec(string(statements)); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
