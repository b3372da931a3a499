// Command runsql runs the statements of a file on a SQLite database, for
// machines that have no sqlite3 program. It knows nothing of nextrun but the
// driver that store brings.
package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"

	_ "github.com/nextrun/nextrun/store"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: runsql DATABASE-FILE SQL-FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "runsql:", err)
		os.Exit(1)
	}
}

// run executes all statements in one transaction.
func run(database, file string) (err error) {
	statements, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if _, err := os.Stat(database); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	if _, err := tx.Exec(string(statements)); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", file, err), tx.Rollback())
	}
	return tx.Commit()
}
